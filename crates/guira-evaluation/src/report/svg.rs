//! Charts as SVG, with a name and a description for those who don't see them.

use core::cmp::Reverse;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Chart, Line, Style, palette};

/// Where a drawing is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// In a file of its own: with title, and colours for a light and a dark background.
    File,
    /// Within a page, which has the title and the colours.
    Page,
    /// Within a page on a narrow screen.
    Phone,
    /// In a file of its own for each background, which lies under it: small, with names beside the points.
    Picture(Ground),
}

/// The background of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    Light,
    Dark,
}

/// The measures of a drawing, in pixels.
struct Layout {
    size: (u32, u32),
    /// The area of the curves; the legend is beside or below it.
    curves: (u32, u32),
    line_height: i32,
    text: i32,
    margin: i32,
    /// The most marks of each axis.
    x_marks: usize,
    y_marks: usize,
}

/// The opacity of the figures of others, and of intervals.
const LIGHT: f64 = 0.4;
const INTERVAL: f64 = 0.7;
const GRID: f64 = 0.12;
/// The width of the numbers and the name of the y axis in small drawings.
const SMALL_Y_LABELS: i32 = 48;
/// With more points, markers would merge.
const MAX_MARKED: usize = 30;

impl Frame {
    fn layout(self, chart: &Chart) -> Layout {
        match self {
            Self::File | Self::Page => Layout {
                size: (960, 500),
                curves: (715, 500),
                line_height: 19,
                text: 15,
                margin: 12,
                x_marks: 11,
                y_marks: 10,
            },
            Self::Phone => {
                let rows = u32::try_from(chart.series.len()).unwrap_or(0);
                Layout {
                    size: (400, 330 + 22 * rows),
                    curves: (400, 310),
                    line_height: 22,
                    text: 14,
                    margin: 4,
                    x_marks: 6,
                    y_marks: 7,
                }
            }
            Self::Picture(_) => Layout {
                size: (500, 340),
                curves: (500, 340),
                line_height: 18,
                text: 15,
                margin: 4,
                x_marks: 8,
                y_marks: 6,
            },
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Page => "page",
            Self::Phone => "phone",
            Self::Picture(Ground::Light) => "light",
            Self::Picture(Ground::Dark) => "dark",
        }
    }
}

type Canvas<'svg> = DrawingArea<SVGBackend<'svg>, Shift>;
type DrawingFailure = DrawingAreaErrorKind<std::io::Error>;

/// The text of the SVG file or element.
pub(super) fn draw(chart: &Chart, frame: Frame) -> Result<String, DrawingFailure> {
    let layout = frame.layout(chart);
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, layout.size).into_drawing_area();
        if frame == Frame::File {
            canvas.fill(&WHITE)?;
        }
        let ends = draw_curves(chart, frame, &layout, &canvas)?;
        match frame {
            Frame::File | Frame::Page => label_ends(chart, &layout, &ends, &canvas)?,
            Frame::Phone => draw_legend(chart, &layout, &canvas)?,
            Frame::Picture(_) => label_points(chart, &layout, &ends, &canvas)?,
        }
        canvas.present()?;
    }
    if frame == Frame::Picture(Ground::Dark) {
        svg = palette::darkened(&svg);
    }
    Ok(named(chart, frame, &layout, &svg))
}

/// A place of the drawing, in pixels.
type Pixel = (i32, i32);

/// Draws axes and curves, and returns where each curve ends.
fn draw_curves(
    chart: &Chart,
    frame: Frame,
    layout: &Layout,
    canvas: &Canvas<'_>,
) -> Result<Vec<Option<Pixel>>, DrawingFailure> {
    let [left, right] = chart.x_ends();
    let [bottom, top] = chart.y_ends();
    let (part, _) = match frame {
        Frame::File | Frame::Page => canvas.split_horizontally(layout.curves.0),
        Frame::Phone | Frame::Picture(_) => canvas.split_vertically(layout.curves.1),
    };
    let mut builder = ChartBuilder::on(&part);
    match frame {
        Frame::File => builder.caption(&chart.title, ("sans-serif", 19)),
        Frame::Picture(_) => builder.caption(&chart.title, ("sans-serif", layout.text)),
        Frame::Page | Frame::Phone => &mut builder,
    };
    let text = layout.text;
    let plane = builder
        .margin(layout.margin)
        .margin_right(layout.margin + 14)
        .x_label_area_size(3 * text)
        .y_label_area_size(if matches!(frame, Frame::File | Frame::Page) { 64 } else { SMALL_Y_LABELS })
        .build_cartesian_2d(left..right, bottom..top)?;
    let corners = [plane.backend_coord(&(left, bottom)), plane.backend_coord(&(right, top))];
    let along_x = |place: f64| (plane.backend_coord(&(place, bottom)).0, chart.x.mark(place));
    let along_y = |place: f64| (plane.backend_coord(&(left, place)).1, chart.y.mark(place));
    let marks = [
        chart.x.marks([left, right], layout.x_marks).into_iter().map(along_x).collect::<Vec<_>>(),
        chart.y.marks([bottom, top], layout.y_marks).into_iter().map(along_y).collect(),
    ];
    draw_axes(chart, layout, canvas, corners, &marks)?;
    let place = |x: f64, y: f64| {
        let (x, y) = (chart.x.place(x), chart.y.place(y));
        (x.is_finite() && y.is_finite()).then(|| plane.backend_coord(&(x, y)))
    };
    let mut ends = Vec::new();
    for series in &chart.series {
        let colour = palette::of_curve(series.style.number);
        let pixels: Vec<Pixel> = series.points.iter().filter_map(|point| place(point.x, point.y)).collect();
        for &(x, y) in &series.others {
            if let Some(pixel) = place(x, y) {
                draw_marker(series.style, pixel, 7, &colour.mix(LIGHT), canvas)?;
            }
        }
        for point in series.points.iter().filter(|point| point.low < point.high) {
            if let (Some(low), Some(high)) = (place(point.x, point.low), place(point.x, point.high)) {
                canvas.draw(&PathElement::new(vec![low, high], colour.mix(INTERVAL).stroke_width(1)))?;
                for (x, y) in [low, high] {
                    canvas
                        .draw(&PathElement::new(vec![(x - 3, y), (x + 3, y)], colour.mix(INTERVAL).stroke_width(1)))?;
                }
            }
        }
        draw_line(series.style, &pixels, canvas)?;
        if pixels.len() <= MAX_MARKED && series.style.line != Line::Dotted {
            for &pixel in &pixels {
                draw_marker(series.style, pixel, 5, &colour.to_rgba(), canvas)?;
            }
        }
        ends.push(pixels.iter().copied().max_by_key(|(x, _)| *x));
    }
    Ok(ends)
}

/// Draws the frame, with a light line and a number at each mark, and the labels of the axes.
fn draw_axes(
    chart: &Chart,
    layout: &Layout,
    canvas: &Canvas<'_>,
    [(left, bottom), (right, top)]: [Pixel; 2],
    [x_marks, y_marks]: &[Vec<(i32, String)>; 2],
) -> Result<(), DrawingFailure> {
    let anchored = |across, down| ("sans-serif", layout.text).into_text_style(canvas).pos(Pos::new(across, down));
    let grid = BLACK.mix(GRID);
    for (x, number) in x_marks {
        canvas.draw(&PathElement::new(vec![(*x, bottom), (*x, top)], grid))?;
        canvas.draw(&Text::new(number.clone(), (*x, bottom + 6), anchored(HPos::Center, VPos::Top)))?;
    }
    for (y, number) in y_marks {
        canvas.draw(&PathElement::new(vec![(left, *y), (right, *y)], grid))?;
        canvas.draw(&Text::new(number.clone(), (left - 6, *y), anchored(HPos::Right, VPos::Center)))?;
    }
    canvas.draw(&PathElement::new(vec![(left, top), (left, bottom), (right, bottom)], BLACK))?;
    let middle = i32::midpoint(left, right);
    let name = anchored(HPos::Center, VPos::Top);
    canvas.draw(&Text::new(chart.x.label.clone(), (middle, bottom + 8 + layout.text), name))?;
    let name = anchored(HPos::Center, VPos::Top).transform(FontTransform::Rotate270);
    canvas.draw(&Text::new(chart.y.label.clone(), (layout.margin, i32::midpoint(top, bottom)), name))
}

fn draw_line(style: Style, pixels: &[Pixel], canvas: &Canvas<'_>) -> Result<(), DrawingFailure> {
    let colour = palette::of_curve(style.number);
    let pixels = || pixels.iter().copied();
    match style.line {
        Line::Solid => canvas.draw(&PathElement::new(pixels().collect::<Vec<_>>(), colour.stroke_width(2))),
        Line::Dashed => canvas.draw(&DashedPathElement::new(pixels(), 8, 5, colour.stroke_width(2))),
        Line::Dotted => canvas.draw(&DashedPathElement::new(pixels(), 2, 4, colour.stroke_width(2))),
    }
}

/// Draws a marker: a shape for each number, filled for solid lines and hollow for dashed ones.
fn draw_marker(
    style: Style,
    (x, y): Pixel,
    size: i32,
    colour: &RGBAColor,
    canvas: &Canvas<'_>,
) -> Result<(), DrawingFailure> {
    let half = size * 2 / 3;
    let shape: &[Pixel] = match style.number % 10 {
        // A polygon that looks like a circle.
        0 => {
            &[(size, 0), (half, half), (0, size), (-half, half), (-size, 0), (-half, -half), (0, -size), (half, -half)]
        }
        1 => &[(0, -size), (size, half), (-size, half)],
        2 => &[(-half, -half), (half, -half), (half, half), (-half, half)],
        3 => &[(0, -size), (size, 0), (0, size), (-size, 0)],
        4 => &[(0, size), (size, -half), (-size, -half)],
        5 => &[(-size, -2), (size, -2), (size, 2), (-size, 2)],
        6 => &[(-2, -size), (2, -size), (2, size), (-2, size)],
        7 => &[(-size, 0), (half, -size), (half, size)],
        8 => &[(size, 0), (-half, -size), (-half, size)],
        // A cross.
        #[rustfmt::skip]
        _ => &[
            (-size, -2), (-2, -2), (-2, -size), (2, -size), (2, -2), (size, -2),
            (size, 2), (2, 2), (2, size), (-2, size), (-2, 2), (-size, 2),
        ],
    };
    let corners: Vec<Pixel> = shape.iter().map(|(right, down)| (x + right, y + down)).collect();
    if style.line == Line::Solid {
        return canvas.draw(&Polygon::new(corners, colour.filled()));
    }
    let closed: Vec<Pixel> = corners.iter().chain(corners.first()).copied().collect();
    canvas.draw(&PathElement::new(closed, colour.stroke_width(2)))
}

/// Names the curves where they end, at the right, with a thin line to each name; names do not overlap.
fn label_ends(
    chart: &Chart,
    layout: &Layout,
    ends: &[Option<Pixel>],
    canvas: &Canvas<'_>,
) -> Result<(), DrawingFailure> {
    let left = i32::try_from(layout.curves.0).unwrap_or(0);
    let mut labels: Vec<(usize, Pixel)> =
        ends.iter().enumerate().filter_map(|(number, end)| Some((number, (*end)?))).collect();
    labels.sort_by_key(|(_, (_, y))| *y);
    let bottom = i32::try_from(layout.size.1).unwrap_or(0) - 14;
    // Move labels down if the one above is too near, then up if the last ones are outside of the drawing.
    let mut heights: Vec<i32> = labels.iter().map(|(_, (_, y))| *y).collect();
    for number in 1..heights.len() {
        heights[number] = heights[number].max(heights[number - 1] + layout.line_height);
    }
    let mut most = bottom;
    for height in heights.iter_mut().rev() {
        *height = (*height).min(most);
        most = *height - layout.line_height;
    }
    for ((number, end), height) in labels.into_iter().zip(heights) {
        let series = &chart.series[number];
        let colour = palette::of_curve(series.style.number);
        canvas
            .draw(&PathElement::new(vec![(end.0 + 6, end.1), (left - 6, height), (left, height)], colour.mix(LIGHT)))?;
        draw_line(series.style, &[(left, height), (left + 26, height)], canvas)?;
        if series.style.line != Line::Dotted {
            draw_marker(series.style, (left + 13, height), 5, &colour.to_rgba(), canvas)?;
        }
        canvas.draw(&Text::new(series.name.clone(), (left + 33, height - 7), ("sans-serif", layout.text)))?;
    }
    Ok(())
}

/// A rectangle of the drawing: left, top, right, bottom.
type Area = [i32; 4];

/// Names points beside them, each where it covers the least of other points and names.
fn label_points(
    chart: &Chart,
    layout: &Layout,
    ends: &[Option<Pixel>],
    canvas: &Canvas<'_>,
) -> Result<(), DrawingFailure> {
    let text = layout.text - 1;
    let [left, right] = [layout.margin + SMALL_Y_LABELS, i32::try_from(layout.size.0).unwrap_or(0) - layout.margin];
    let mut taken: Vec<Area> = ends.iter().flatten().map(|&(x, y)| [x - 6, y - 6, x + 6, y + 6]).collect();
    // From the right, where there is the least room for names.
    let mut points: Vec<_> =
        chart.series.iter().zip(ends).filter_map(|(series, end)| Some((series, (*end)?))).collect();
    points.sort_by_key(|(_, (x, _))| Reverse(*x));
    for (series, (x, y)) in points {
        // Somewhat less than half of its height for each letter.
        let width = i32::try_from(series.name.chars().count()).unwrap_or(0) * text * 9 / 20;
        let half = text / 2;
        // To the right, to the left, somewhat higher or lower, above, below.
        let places = [
            (x + 10, y, HPos::Left),
            (x - 10, y, HPos::Right),
            (x + 7, y - half, HPos::Left),
            (x + 7, y + half, HPos::Left),
            (x - 7, y - half, HPos::Right),
            (x - 7, y + half, HPos::Right),
            (x, y - text - 2, HPos::Center),
            (x, y + text + 2, HPos::Center),
        ];
        let area = |(x, y, anchor)| {
            let start = match anchor {
                HPos::Left => x,
                HPos::Center => x - width / 2,
                HPos::Right => x - width,
            };
            [start, y - half, start + width, y + half]
        };
        let covered = |&place: &(i32, i32, HPos)| {
            let area = area(place);
            let beyond = ((area[2] - right).max(0) + (left - area[0]).max(0)) * text;
            beyond + taken.iter().map(|other| overlap(area, *other)).sum::<i32>()
        };
        let Some(place) = places.into_iter().min_by_key(covered) else { continue };
        taken.push(area(place));
        // The library's own.
        let weight = if series.style.line == Line::Dashed { FontStyle::Bold } else { FontStyle::Normal };
        let (x, y, anchor) = place;
        let style = ("sans-serif", text, weight).into_text_style(canvas).pos(Pos::new(anchor, VPos::Center));
        canvas.draw(&Text::new(series.name.clone(), (x, y), style))?;
    }
    Ok(())
}

/// The pixels that two rectangles share.
fn overlap(one: Area, other: Area) -> i32 {
    let width = one[2].min(other[2]) - one[0].max(other[0]);
    let height = one[3].min(other[3]) - one[1].max(other[1]);
    width.max(0) * height.max(0)
}

/// Names the curves below the chart, if there is no room beside them.
fn draw_legend(chart: &Chart, layout: &Layout, canvas: &Canvas<'_>) -> Result<(), DrawingFailure> {
    let left = 52;
    let mut middle = i32::try_from(layout.curves.1).unwrap_or(0) + 14;
    for series in &chart.series {
        draw_line(series.style, &[(left, middle), (left + 30, middle)], canvas)?;
        if series.style.line != Line::Dotted {
            let colour = palette::of_curve(series.style.number);
            draw_marker(series.style, (left + 15, middle), 5, &colour.to_rgba(), canvas)?;
        }
        canvas.draw(&Text::new(series.name.clone(), (left + 38, middle - 7), ("sans-serif", layout.text)))?;
        middle += layout.line_height;
    }
    Ok(())
}

/// Replaces the root element of plotters, which has no description and a fixed size.
fn named(chart: &Chart, frame: Frame, layout: &Layout, drawn: &str) -> String {
    let shapes =
        drawn.split_once("<svg ").and_then(|(_, rest)| rest.split_once('>')).map_or(drawn, |(_, shapes)| shapes);
    let (width, height) = layout.size;
    let id = format!("{}-{}", chart.name, frame.name());
    let style =
        if frame == Frame::File { format!("<style>{}</style>\n", palette::dark_rules()) } else { String::new() };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{}</title>\n\
         <desc id=\"{id}-desc\">{}</desc>\n{style}{}",
        escaped(&chart.title),
        escaped(&chart.description()),
        shortened(shapes.trim_start()),
    )
}

/// The lines of a drawing, with consecutive lines of one look joined to a path and default attributes left out: a dashed curve
/// has a line for each dash, which would be most of a page.
fn shortened(shapes: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    // The look of the path in the last line, if it is one.
    let mut look = None;
    for line in shapes.lines() {
        let line = line.replace(" opacity=\"1\"", "").replace(" stroke-width=\"1\"", "");
        let polyline = line.strip_prefix("<polyline ").and_then(|line| line.strip_suffix("\"/>"));
        let Some((attributes, points)) = polyline.and_then(|line| line.split_once(" points=\"")) else {
            look = None;
            lines.push(line);
            continue;
        };
        let points = points.trim_end();
        match lines.last_mut().filter(|_| look.as_deref() == Some(attributes)) {
            Some(path) => path.insert_str(path.len() - PATH_ENDS.len(), &format!("M{points}")),
            None => lines.push(format!("<path {attributes} d=\"M{points}{PATH_ENDS}")),
        }
        look = Some(attributes.to_owned());
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const PATH_ENDS: &str = "\"/>";

/// Text, escaped for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Axis, Series};

    #[test]
    fn lines_in_a_row_that_look_alike_are_one_path() {
        let line = |colour: &str, points: &str| {
            format!(
                "<polyline fill=\"none\" opacity=\"1\" stroke=\"{colour}\" stroke-width=\"1\" points=\"{points} \"/>\n"
            )
        };
        let path = |colour: &str, points: &str| format!("<path fill=\"none\" stroke=\"{colour}\" d=\"{points}\"/>\n");
        let text = "<text opacity=\"0.5\">\n1\n</text>\n";
        let [first, second, third] = ["1,2 3,4", "5,6 7,8", "9,9 8,8"];
        let drawn =
            [line("red", first), line("red", second), line("blue", third), text.to_owned(), line("blue", first)]
                .concat();
        let expected =
            [path("red", "M1,2 3,4M5,6 7,8"), path("blue", "M9,9 8,8"), text.to_owned(), path("blue", "M1,2 3,4")];
        assert_eq!(shortened(&drawn), expected.concat());
    }

    #[test]
    fn a_drawing_says_what_it_shows() -> Result<(), DrawingFailure> {
        let chart = Chart {
            name: "figure-0".to_owned(),
            title: "Loads < 1 & above 0".to_owned(),
            x: Axis::linear("keys"),
            y: Axis::linear("load"),
            series: vec![Series::new("CF", Style::solid(0), [(1.0, 0.5), (4.0, 0.9)])],
            others: None,
        };
        for frame in [Frame::File, Frame::Page, Frame::Phone] {
            let svg = draw(&chart, frame)?;
            assert!(svg.contains("role=\"img\" aria-labelledby=\"figure-0-"), "{svg}");
            assert!(svg.contains("-title\">Loads &lt; 1 &amp; above 0</title>"), "{svg}");
            assert!(svg.contains("keys from 1 to 4, load from 0.5 to 0.9"), "{svg}");
            assert_eq!(svg.matches("<svg").count(), 1);
            assert!(svg.ends_with("</svg>\n"));
            assert_eq!(svg.contains("prefers-color-scheme"), frame == Frame::File);
        }
        Ok(())
    }
}
