use serde::{Deserialize, Serialize};

use crate::measure::Turns;

/// Where a figure comes from. Counts are equal for equal keys, but no two runs take equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// A label, a figure of the paper, or a result of a formula or of counting: equal in every run.
    Counted,
    /// Measured with a clock.
    Timed,
}

/// The content of a table's cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Text(String),
    Count(u64),
    Number(f64),
    /// No figure.
    None,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text for people: four significant digits, and no exponents.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => four_digits(*number),
            Self::None => "-".to_owned(),
        }
    }

    /// The text with all digits.
    pub(crate) fn exact(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::None => String::new(),
        }
    }
}

impl Cell {
    /// The value, if it is a number.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(crate::cast::approximate(*count)),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::None => None,
        }
    }

    /// The cells of an interval: the median of several turns, the least and the greatest; empty without turns.
    pub(crate) fn interval(turns: &Turns) -> [Self; 3] {
        if turns.is_empty() {
            return [Self::None, Self::None, Self::None];
        }
        let [lowest, highest] = turns.ends();
        [turns.median(), lowest, highest].map(Self::Number)
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::None, Self::Number)
    }
}

/// Returns `true` for text that is a number, as people and programs write it: 1,000.5.
pub(crate) fn is_number(text: &str) -> bool {
    text.replace(',', "").parse::<f64>().is_ok()
}

/// A number with four significant digits; none behind the decimal point if those before it suffice.
pub(crate) fn four_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let digits_before = crate::cast::whole_digits(number);
    let decimals = usize::try_from(4 - digits_before).unwrap_or(0);
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_four_digits_that_mean_something() {
        assert_eq!(four_digits(0.0), "0");
        assert_eq!(four_digits(12.604_321), "12.60");
        assert_eq!(four_digits(0.001_876_54), "0.001877");
        assert_eq!(four_digits(123_456.7), "123457");
        assert_eq!(four_digits(-0.5), "-0.5000");
    }
}
