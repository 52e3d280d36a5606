//! Charts as SVG: the legend stands beside the curves, where it hides none.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::Chart;
use crate::cast::pixels;

const SIZE: (u32, u32) = (960, 520);
/// Where the legend begins.
const LEGEND_AT: u32 = 700;
const LINE_HEIGHT: i32 = 26;

/// Colours that are told apart by every eye (Okabe and Ito 2008), but for the yellow one, which is too light for lines; and
/// two more, for which the marks must do.
const COLOURS: [RGBColor; 9] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(60, 60, 60),
    RGBColor(117, 76, 36),
    RGBColor(110, 64, 170),
];

/// With more points, marks would be a band.
const MOST_MARKED: usize = 30;

/// Binds a name to what makes the mark of a series, which has one of four types. Colours come again, but not with the
/// same mark.
macro_rules! with_marker {
    ($number:expr, $new:ident => $draw:expr) => {{
        let colour = COLOURS[$number % COLOURS.len()];
        match $number % 4 {
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

/// The text of the SVG file.
pub(super) fn draw(chart: &Chart) -> Result<String, DrawingFailure> {
    let mut svg = String::new();
    {
        let canvas = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        canvas.fill(&WHITE)?;
        let (plane, legend) = canvas.split_horizontally(LEGEND_AT);
        draw_curves(chart, &plane)?;
        draw_legend(chart, &legend)?;
        canvas.present()?;
    }
    Ok(svg)
}

fn draw_curves(chart: &Chart, canvas: &Canvas<'_>) -> Result<(), DrawingFailure> {
    let points = || chart.series.iter().flat_map(|series| series.points.iter());
    let [left, right] = chart.x.ends(points().map(|point| point.0));
    let [bottom, top] = chart.y.ends(points().map(|point| point.1));
    let mut plane = ChartBuilder::on(canvas)
        .caption(&chart.title, ("sans-serif", 19))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(left..right, bottom..top)?;
    // One mark for each power of ten, and none between.
    let marks = |axis: &super::Axis, [from, to]: [f64; 2]| match axis.scaling {
        super::Scaling::Linear => 11,
        super::Scaling::Logarithmic => pixels(to - from).unsigned_abs() as usize + 1,
    };
    plane
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(chart.x.label)
        .y_desc(chart.y.label)
        .x_labels(marks(&chart.x, [left, right]))
        .y_labels(marks(&chart.y, [bottom, top]))
        .x_label_formatter(&|&place| chart.x.mark(place))
        .y_label_formatter(&|&place| chart.y.mark(place))
        .label_style(("sans-serif", 14))
        .axis_desc_style(("sans-serif", 15))
        .draw()?;
    for series in &chart.series {
        let colour = COLOURS[series.style % COLOURS.len()];
        let placed = series.points.iter().map(|&(x, y)| (chart.x.place(x), chart.y.place(y)));
        let placed: Vec<(f64, f64)> = placed.filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        plane.draw_series(LineSeries::new(placed.iter().copied(), colour.stroke_width(2)))?;
        if placed.len() <= MOST_MARKED {
            with_marker!(series.style, mark => plane.draw_series(placed.iter().copied().map(mark))?);
        }
    }
    Ok(())
}

fn draw_legend(chart: &Chart, canvas: &Canvas<'_>) -> Result<(), DrawingFailure> {
    let mut middle = 60;
    for series in &chart.series {
        let colour = COLOURS[series.style % COLOURS.len()];
        canvas.draw(&PathElement::new(vec![(0, middle), (30, middle)], colour.stroke_width(2)))?;
        if series.points.len() <= MOST_MARKED {
            with_marker!(series.style, mark => canvas.draw(&mark((15, middle)))?);
        }
        canvas.draw(&Text::new(series.name.clone(), (38, middle - 7), ("sans-serif", 15)))?;
        middle += LINE_HEIGHT;
    }
    Ok(())
}
