//! Colours that can be distinguished on a light and a dark background, after Okabe and Ito (2008), with a contrast of at least
//! 3 to the background. Not every eye distinguishes the last ones, which also have different markers.

use plotters::style::RGBColor;

/// The colours of curves, on a light and on a dark background.
const CURVES: [[RGBColor; 2]; 10] = [
    [RGBColor(0x00, 0x72, 0xb2), RGBColor(0x5a, 0xb4, 0xf0)],
    [RGBColor(0xc4, 0x4e, 0x00), RGBColor(0xff, 0x8a, 0x4c)],
    [RGBColor(0x00, 0x79, 0x5a), RGBColor(0x2f, 0xc7, 0x9a)],
    [RGBColor(0xb0, 0x47, 0x8a), RGBColor(0xe7, 0x9c, 0xc8)],
    [RGBColor(0x0f, 0x8a, 0x9d), RGBColor(0x7f, 0xe0, 0xee)],
    [RGBColor(0x9a, 0x6a, 0x00), RGBColor(0xff, 0xcf, 0x4d)],
    [RGBColor(0x3c, 0x3c, 0x3c), RGBColor(0xc8, 0xcc, 0xd2)],
    [RGBColor(0x75, 0x4c, 0x24), RGBColor(0xc9, 0x98, 0x6b)],
    [RGBColor(0x6e, 0x40, 0xaa), RGBColor(0xb7, 0x9b, 0xff)],
    [RGBColor(0xb3, 0x12, 0x3a), RGBColor(0xff, 0x7b, 0x93)],
];

/// The colours of text and axes, and of the background.
const INK: [RGBColor; 2] = [RGBColor(0x00, 0x00, 0x00), RGBColor(0xe6, 0xe8, 0xeb)];
const GROUND: [RGBColor; 2] = [RGBColor(0xff, 0xff, 0xff), RGBColor(0x0d, 0x11, 0x17)];

/// The colour of a curve in the drawing, which is the one for a light background.
pub(super) const fn of_curve(style: usize) -> RGBColor {
    CURVES[style % CURVES.len()][0]
}

/// CSS rules that give a drawing the colours for a dark background. Rules of a style sheet override the attributes of a
/// drawing.
pub(super) fn dark_rules() -> String {
    let pairs = CURVES.iter().chain([&INK, &GROUND]);
    let rules = pairs.map(|[light, dark]| {
        let [light, dark] = [hexadecimal(*light), hexadecimal(*dark)];
        format!("svg [fill=\"{light}\"] {{ fill: {dark} }}\nsvg [stroke=\"{light}\"] {{ stroke: {dark} }}\n")
    });
    format!("@media (prefers-color-scheme: dark) {{\n{}}}\n", rules.collect::<String>())
}

/// A drawing with the colours for a dark background in place of those for a light one.
pub(super) fn darkened(drawing: &str) -> String {
    let pairs: Vec<_> = CURVES.iter().chain([&INK, &GROUND]).map(|pair| pair.map(hexadecimal)).collect();
    let mut parts = drawing.split('#');
    let mut darkened = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let part = format!("#{part}");
        match pairs.iter().find(|[light, _]| part.starts_with(light)) {
            Some([light, dark]) => darkened += &part.replacen(light, dark, 1),
            None => darkened += &part,
        }
    }
    darkened
}

/// A colour as in SVG.
fn hexadecimal(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast by WCAG 2.2.
    fn luminance(RGBColor(red, green, blue): RGBColor) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(one: RGBColor, other: RGBColor) -> f64 {
        let [one, other] = [luminance(one), luminance(other)];
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn a_dark_drawing_has_other_colours_only() {
        let drawing = "<a fill=\"#0072B2\" stroke=\"#000000\"/><text fill=\"#123456\">#1</text>";
        let expected = "<a fill=\"#5AB4F0\" stroke=\"#E6E8EB\"/><text fill=\"#123456\">#1</text>";
        assert_eq!(darkened(drawing), expected);
    }

    #[test]
    fn curves_stand_out_from_their_ground() {
        for ground in 0..2 {
            for curve in CURVES {
                let contrast = contrast(curve[ground], GROUND[ground]);
                assert!(contrast >= 3.0, "{:?}: {contrast}", curve[ground]);
            }
            assert!(contrast(INK[ground], GROUND[ground]) >= 7.0);
        }
    }
}
