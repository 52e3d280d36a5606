//! The chart of a plan: bits per key at different rates.

use guira::analysis::{bloom_bits_per_key, information_limit};
use guira::{CuckooFilter, Layout, Parameters};
use plotters::style::RGBColor;

use crate::render::{Chart, Line, Mark, text};

/// The powers of ten that the chart spans, and the points per power.
const DECADES: i32 = 4;
const STEPS: i32 = 60;

// Medium bright, to be legible on white and on black, and distinct in brightness and hue.
const LAYOUTS: [(Layout, RGBColor); 2] =
    [(Layout::Packed, RGBColor(0x2f, 0x80, 0xd8)), (Layout::SemiSorted, RGBColor(0xd9, 0x7a, 0x0b))];
const BLOOM: RGBColor = RGBColor(0xc0, 0x4f, 0x9a);
const LIMIT: RGBColor = RGBColor(0x80, 0x80, 0x80);

/// The chart of a table at its rate, and of all rates and layouts for the same capacity.
pub(super) fn chart(table: &Parameters, rate: f64) -> Chart {
    let capacity = table.capacity();
    let exponent = rate.log10();
    // The rate is in the middle, or further right if rates above 1 would be shown otherwise.
    let left = (exponent.round() + f64::from(DECADES) / 2.0).min(0.0);
    let rates: Vec<f64> = (0..=DECADES * STEPS)
        .map(|step| 10f64.powf(left - f64::from(step) / f64::from(STEPS)))
        // At a rate of 1 no filter is needed.
        .filter(|&rate| rate < 1.0)
        .collect();
    let line = |name: String, color, bits: &dyn Fn(f64) -> Option<f64>| Line {
        name,
        color,
        points: rates.iter().filter_map(|&rate| Some((rate, bits(rate)?))).collect(),
    };
    let mut lines = vec![line("Bloom filter".to_owned(), BLOOM, &|rate| Some(bloom_bits_per_key(rate)))];
    for (layout, color) in LAYOUTS {
        lines.push(line(layout.to_string(), color, &|rate| least_bits(capacity, rate, layout)));
    }
    lines.push(line("limit of all filters".to_owned(), LIMIT, &|rate| Some(information_limit(rate))));
    Chart {
        title: format!("What rates cost, for {}", text::counted(capacity, "key")),
        left,
        right: left - f64::from(DECADES),
        lines,
        mark: Mark {
            name: format!("chosen: {}, {} bits per key", table.layout(), text::bits(table.bits_per_key())),
            point: (rate, table.bits_per_key()),
        },
    }
}

/// The bits per key of the smallest table of a layout with two candidate buckets, if there is one.
fn least_bits(capacity: u64, rate: f64, layout: Layout) -> Option<f64> {
    let builder = CuckooFilter::builder().capacity(usize::try_from(capacity).ok()?).false_positive_rate(rate);
    // `alternatives` lists the smallest first.
    let tables = builder.alternatives().ok()?;
    let is_made = |table: &&Parameters| table.layout() == layout && table.addressing().candidates() == 2;
    tables.iter().find(is_made).map(Parameters::bits_per_key)
}

#[cfg(test)]
mod tests {
    use guira::{BuildError, Preference};

    use super::*;

    fn chart_of(capacity: usize, rate: f64, preference: Preference) -> Result<Chart, BuildError> {
        let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate).preference(preference);
        builder.parameters().map(|table| chart(&table, rate))
    }

    #[test]
    fn the_chosen_point_is_on_the_line_of_its_layout() -> Result<(), BuildError> {
        for (capacity, rate, preference) in [
            (1_000_000, 0.001, Preference::Speed),
            (1_000_000, 0.001, Preference::Space),
            (500, 0.1, Preference::Speed),
            (100_000_000, 1e-5, Preference::Space),
        ] {
            let chart = chart_of(capacity, rate, preference)?;
            let (at, bits) = chart.mark.point;
            let on_a_line = chart.lines[1..4]
                .iter()
                .flat_map(|line| &line.points)
                .any(|&(other, line_bits)| (other / at - 1.0).abs() < 1e-9 && (line_bits - bits).abs() < 1e-9);
            assert!(on_a_line, "{capacity} keys, rate {rate}, {bits} bits");
            assert!(chart.right < at.log10() && at.log10() < chart.left, "rate {rate}");
        }
        Ok(())
    }

    /// A Bloom filter takes 1 / ln 2 = 1.4427 times the limit, and nothing is below the limit.
    #[test]
    fn lines_rise_as_rates_fall_and_none_is_below_the_limit() -> Result<(), BuildError> {
        let chart = chart_of(1_000_000, 0.001, Preference::Speed)?;
        let limit = |rate: f64| -rate.log2();
        for line in &chart.lines {
            assert!(line.points.is_sorted_by(|left, right| left.0 > right.0 && left.1 <= right.1), "{}", line.name);
            assert!(line.points.iter().all(|&(rate, bits)| bits >= limit(rate) - 1e-9), "{}", line.name);
        }
        let (rate, bits) = chart.lines[0].points[7];
        assert!((bits - limit(rate) / std::f64::consts::LN_2).abs() < 1e-9);
        Ok(())
    }
}
