use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::text;
use crate::failure::Failure;

const SIZE: (u32, u32) = (960, 640);

/// Legible on white and on black, since the chart has no background of its own.
const TEXT: RGBColor = RGBColor(0x76, 0x76, 0x76);

/// Moves the symbols of the legend up to the middle of their names.
const RISE: i32 = 6;

/// A picture of bits per key against the false positive rate.
pub(crate) struct Chart {
    pub(crate) title: String,
    /// The powers of ten of the rates at the left and right end: rates fall and bits rise from left to right.
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) lines: Vec<Line>,
    pub(crate) mark: Mark,
}

pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) color: RGBColor,
    /// Rates and their bits per key.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The point that the chart is about.
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) point: (f64, f64),
}

impl Chart {
    /// The picture as SVG.
    pub(crate) fn svg(&self) -> Result<String, Failure> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(Failure::new)?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let font = |size: u32| ("sans-serif", size).into_font().color(&TEXT);
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        let most =
            self.lines.iter().flat_map(|line| &line.points).map(|&(_, bits)| bits).fold(self.mark.point.1, f64::max);
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, font(22))
            .margin(16)
            // The last label is centred below the edge.
            .margin_right(40)
            .x_label_area_size(52)
            .y_label_area_size(60)
            .build_cartesian_2d(self.left..self.right, 0.0..most * 1.04)?;
        chart
            .configure_mesh()
            .axis_style(TEXT.mix(0.6))
            .bold_line_style(TEXT.mix(0.25))
            .light_line_style(TEXT.mix(0.0))
            .x_labels(6)
            .x_label_formatter(&|exponent| text::power_of_ten(*exponent))
            .y_label_formatter(&|bits| bits.to_string())
            .x_desc("false positive rate")
            .y_desc("memory (bits per key)")
            .label_style(font(16))
            .axis_desc_style(font(17))
            .draw()?;

        for line in &self.lines {
            let style = line.color.stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied().map(place), style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y - RISE), (x + 24, y - RISE)], style));
        }
        let (exponent, bits) = place(self.mark.point);
        let ring = TEXT.stroke_width(2);
        chart.draw_series([PathElement::new([(exponent, 0.0), (exponent, bits)], TEXT.mix(0.6))])?;
        chart
            .draw_series([Circle::new((exponent, bits), 7, ring), Circle::new((exponent, bits), 3, TEXT.filled())])?
            .label(&self.mark.name)
            .legend(move |(x, y)| {
                EmptyElement::at((x + 12, y - RISE))
                    + Circle::new((0, 0), 7, ring)
                    + Circle::new((0, 0), 3, TEXT.filled())
            });
        // No filter is below the limit, so nothing is drawn at the lower right.
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .legend_area_size(34)
            .margin(14)
            .label_font(font(16).pos(Pos::new(HPos::Left, VPos::Center)))
            .draw()?;
        area.present()
    }
}

/// The coordinates of a rate and its bits.
fn place((rate, bits): (f64, f64)) -> (f64, f64) {
    (rate.log10(), bits)
}
