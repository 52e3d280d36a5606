//! Charts as SVG, with a name and a description for those who don't see them.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Chart, palette};
use crate::cast::pixels;

/// Where a drawing is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// In a file of its own: with its title, and colours for light and dark ground.
    File,
    /// Within a page, which has the title and the colours.
    Page,
    /// The same on a narrow screen.
    Phone,
}

/// The measures of a drawing, in pixels.
struct Layout {
    size: (u32, u32),
    /// The part of the curves; the legend stands beside it, or below, where it hides none.
    curves: (u32, u32),
    line_height: i32,
    text: i32,
    margin: i32,
    x_marks: usize,
}

/// With more points, marks would be a band.
const MOST_MARKED: usize = 30;

impl Frame {
    fn layout(self, chart: &Chart) -> Layout {
        match self {
            Self::File | Self::Page => {
                Layout { size: (960, 500), curves: (715, 500), line_height: 26, text: 15, margin: 12, x_marks: 11 }
            }
            Self::Phone => {
                let rows = u32::try_from(chart.series.len()).unwrap_or(0);
                Layout {
                    size: (400, 330 + 22 * rows),
                    curves: (400, 310),
                    line_height: 22,
                    text: 14,
                    margin: 4,
                    x_marks: 6,
                }
            }
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Page => "page",
            Self::Phone => "phone",
        }
    }
}

/// Binds a name to what makes the mark of a series, which has one of four types. Colours come again, but not with the
/// same mark.
macro_rules! with_marker {
    ($number:expr, $new:ident => $draw:expr) => {{
        let colour = palette::of_curve($number);
        // The next round of colours begins with another mark.
        match ($number + $number / palette::COUNT) % 4 {
            0 => {
                let $new = |place| Circle::new(place, 4, colour.filled());
                $draw;
            }
            1 => {
                let $new = |place| TriangleMarker::new(place, 6, colour.filled());
                $draw;
            }
            2 => {
                let $new = |place| Cross::new(place, 4, colour.stroke_width(2));
                $draw;
            }
            _ => {
                let $new = |place| Circle::new(place, 4, colour.stroke_width(2));
                $draw;
            }
        }
    }};
}

type Canvas<'svg> = DrawingArea<SVGBackend<'svg>, Shift>;
type DrawingFailure = DrawingAreaErrorKind<std::io::Error>;

/// The text of the SVG file, or element.
pub(super) fn draw(chart: &Chart, frame: Frame) -> Result<String, DrawingFailure> {
    let layout = frame.layout(chart);
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, layout.size).into_drawing_area();
        if frame == Frame::File {
            canvas.fill(&WHITE)?;
        }
        let (curves, legend) = match frame {
            Frame::File | Frame::Page => canvas.split_horizontally(layout.curves.0),
            Frame::Phone => canvas.split_vertically(layout.curves.1),
        };
        draw_curves(chart, frame, &layout, &curves)?;
        draw_legend(chart, frame, &layout, &legend)?;
        canvas.present()?;
    }
    Ok(named(chart, frame, &layout, &svg))
}

fn draw_curves(chart: &Chart, frame: Frame, layout: &Layout, canvas: &Canvas<'_>) -> Result<(), DrawingFailure> {
    let [left, right] = chart.x_ends();
    let [bottom, top] = chart.y_ends();
    let mut builder = ChartBuilder::on(canvas);
    if frame == Frame::File {
        builder.caption(&chart.title, ("sans-serif", 19));
    }
    let text = layout.text;
    let mut plane = builder
        .margin(layout.margin)
        .margin_right(layout.margin + 14)
        .x_label_area_size(3 * text)
        .y_label_area_size(if frame == Frame::Phone { 48 } else { 64 })
        .build_cartesian_2d(left..right, bottom..top)?;
    // One mark for each power of ten, and none between.
    let marks = |axis: &super::Axis, [from, to]: [f64; 2], of_linear: usize| match axis.scaling {
        super::Scaling::Linear => of_linear,
        super::Scaling::Logarithmic => pixels(to - from).unsigned_abs() as usize + 1,
    };
    plane
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(chart.x.label.as_str())
        .y_desc(chart.y.label.as_str())
        .x_labels(marks(&chart.x, [left, right], layout.x_marks))
        .y_labels(marks(&chart.y, [bottom, top], 11))
        .x_label_formatter(&|&place| chart.x.mark(place))
        .y_label_formatter(&|&place| chart.y.mark(place))
        .label_style(("sans-serif", text))
        .axis_desc_style(("sans-serif", text))
        .draw()?;
    for series in &chart.series {
        let colour = palette::of_curve(series.style);
        let placed = series.points.iter().map(|&(x, y)| (chart.x.place(x), chart.y.place(y)));
        let placed: Vec<(f64, f64)> = placed.filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        plane.draw_series(LineSeries::new(placed.iter().copied(), colour.stroke_width(2)))?;
        if placed.len() <= MOST_MARKED {
            with_marker!(series.style, mark => plane.draw_series(placed.iter().copied().map(mark))?);
        }
    }
    Ok(())
}

fn draw_legend(chart: &Chart, frame: Frame, layout: &Layout, canvas: &Canvas<'_>) -> Result<(), DrawingFailure> {
    let left = if frame == Frame::Phone { 52 } else { 0 };
    let mut middle = if frame == Frame::Phone { 14 } else { 60 };
    for series in &chart.series {
        let colour = palette::of_curve(series.style);
        canvas.draw(&PathElement::new(vec![(left, middle), (left + 30, middle)], colour.stroke_width(2)))?;
        if series.points.len() <= MOST_MARKED {
            with_marker!(series.style, mark => canvas.draw(&mark((left + 15, middle)))?);
        }
        canvas.draw(&Text::new(series.name.clone(), (left + 38, middle - 7), ("sans-serif", layout.text)))?;
        middle += layout.line_height;
    }
    Ok(())
}

/// The root that plotters writes says nothing of what is drawn, and has a fixed size: another one in its place.
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
        shapes.trim_start(),
    )
}

/// What may stand within an element of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Axis, Series};

    #[test]
    fn a_drawing_says_what_it_shows() -> Result<(), DrawingFailure> {
        let chart = Chart {
            name: "figure-0".to_owned(),
            title: "Loads < 1 & above 0".to_owned(),
            x: Axis::linear("keys"),
            y: Axis::linear("load"),
            series: vec![Series { name: "CF".to_owned(), style: 0, points: vec![(1.0, 0.5), (4.0, 0.9)] }],
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
