//! The picture of a plan: what rates cost in bits per key.

use guira::Layout;
use guira::analysis::{Plan, bloom_bits_per_key, information_limit};
use plotters::style::RGBColor;

use crate::render::{Chart, Line, Mark, text};

/// How many powers of ten the picture spans, and in how many steps each of them.
const DECADES: i32 = 4;
const STEPS: i32 = 60;

// Of middling brightness, to be seen on white and on black; told apart by brightness and by hue.
const LAYOUTS: [(Layout, RGBColor); 3] = [
    (Layout::Packed, RGBColor(0x2f, 0x80, 0xd8)),
    (Layout::SemiSorted, RGBColor(0xd9, 0x7a, 0x0b)),
    (Layout::Windowed, RGBColor(0x1f, 0xa0, 0x70)),
];
const BLOOM: RGBColor = RGBColor(0xc0, 0x4f, 0x9a);
const LIMIT: RGBColor = RGBColor(0x80, 0x80, 0x80);

/// The picture of a plan among what other rates and layouts would cost for the same capacity.
pub(super) fn chart(plan: &Plan) -> Chart {
    let capacity = plan.parameters().capacity();
    let exponent = plan.false_positive_rate().log10();
    // The rate stands in the middle, or right of it where rates above 1 would be shown.
    let left = (exponent.round() + f64::from(DECADES) / 2.0).min(0.0);
    let rates: Vec<f64> = (0..=DECADES * STEPS)
        .map(|step| 10f64.powf(left - f64::from(step) / f64::from(STEPS)))
        // At a rate of 1 no filter is needed.
        .filter(|&rate| rate < 1.0)
        .collect();
    let line = |name, color, bits: &dyn Fn(f64) -> Option<f64>| Line {
        name,
        color,
        points: rates.iter().filter_map(|&rate| Some((rate, bits(rate)?))).collect(),
    };
    let mut lines = vec![line("Bloom filter", BLOOM, &|rate| Some(bloom_bits_per_key(rate)))];
    for (layout, color) in LAYOUTS {
        lines.push(line(layout.name(), color, &|rate| least_bits(capacity, rate, layout)));
    }
    lines.push(line("limit of all filters", LIMIT, &|rate| Some(information_limit(rate))));
    Chart {
        title: format!("What rates cost, for {}", text::counted(capacity, "key")),
        left,
        right: left - f64::from(DECADES),
        lines,
        mark: Mark {
            name: format!("chosen: {}, {} bits per key", plan.parameters().layout(), text::bits(plan.bits_per_key())),
            point: (plan.false_positive_rate(), plan.bits_per_key()),
        },
    }
}

/// What the smallest table of a layout takes, with two candidates per key, if there is one.
fn least_bits(capacity: u64, rate: f64, layout: Layout) -> Option<f64> {
    // The smallest come first.
    let plans = Plan::alternatives(capacity, rate).ok()?;
    let is_made =
        |plan: &&Plan| plan.parameters().layout() == layout && plan.parameters().addressing().candidates() == 2;
    plans.iter().find(is_made).map(Plan::bits_per_key)
}

#[cfg(test)]
mod tests {
    use guira::analysis::Preference;

    use super::*;

    #[test]
    fn the_chosen_point_is_on_the_line_of_its_layout() -> Result<(), guira::BuildError> {
        for (capacity, rate, preference) in [
            (1_000_000, 0.001, Preference::Speed),
            (1_000_000, 0.001, Preference::Space),
            (500, 0.1, Preference::Speed),
            (100_000_000, 1e-5, Preference::Space),
        ] {
            let chart = chart(&Plan::new(capacity, rate, preference)?);
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
    fn lines_rise_as_rates_fall_and_none_is_below_the_limit() -> Result<(), guira::BuildError> {
        let chart = chart(&Plan::new(1_000_000, 0.001, Preference::Speed)?);
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
