//! The picture of a plan: what rates cost in bits per key.

use guira::Layout;
use guira::analysis::{Plan, bloom_bits_per_key, information_limit};
use plotters::style::RGBColor;

use crate::render::{Chart, Line, Mark, names, text};

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
        lines.push(line(names::layout(layout), color, &|rate| least_bits(capacity, rate, layout)));
    }
    lines.push(line("limit of all filters", LIMIT, &|rate| Some(information_limit(rate))));
    Chart {
        title: format!("What rates cost, for {}", text::counted(capacity, "key")),
        left,
        right: left - f64::from(DECADES),
        lines,
        mark: Mark {
            name: format!(
                "chosen: {}, {} bits per key",
                names::layout(plan.parameters().layout()),
                text::bits(plan.bits_per_key())
            ),
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
