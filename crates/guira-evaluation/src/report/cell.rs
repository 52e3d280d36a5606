use serde::{Deserialize, Serialize};

use crate::measure::{Quiet, Single, Turns};

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
    /// The single turns of a figure.
    Turns {
        turns: String,
    },
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
            Self::Text(text) | Self::Turns { turns: text } => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => four_digits(*number),
            Self::None => "-".to_owned(),
        }
    }

    /// The text with all digits.
    pub(crate) fn exact(&self) -> String {
        match self {
            Self::Text(text) | Self::Turns { turns: text } => text.clone(),
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
            Self::Text(_) | Self::Turns { .. } | Self::None => None,
        }
    }

    /// The cells of an interval: the median of several turns, the least and the greatest, and all of them; empty without turns.
    pub(crate) fn interval(turns: &Turns) -> [Self; 4] {
        if turns.is_empty() {
            return [Self::None, Self::None, Self::None, Self::None];
        }
        let [lowest, highest] = turns.ends();
        let [median, lowest, highest] = [turns.median(), lowest, highest].map(Self::Number);
        let turns: Vec<String> = turns.all().iter().copied().map(shown_turn).collect();
        [median, lowest, highest, Self::Turns { turns: turns.join(" ") }]
    }

    /// The figures by turn; none where a turn is missing or was disturbed.
    pub(super) fn turns(&self) -> Option<Vec<Option<f64>>> {
        match self {
            Self::Turns { turns } => Some(turns.split(' ').map(|turn| turn.parse().ok()).collect()),
            _ => None,
        }
    }
}

/// A figure of a turn with five digits, which is more than any clock's error; with a mark if the turn was disturbed, and a
/// dash for none.
fn shown_turn(single: Option<Single>) -> String {
    match single {
        Some(Single { figure, quiet: Quiet::Yes }) => {
            format!("{:.4e}", figure).parse().map_or_else(|_| DASH.to_owned(), |rounded: f64| rounded.to_string())
        }
        Some(Single { figure, quiet: Quiet::Disturbed }) => format!("{}{DISTURBED}", four_digits(figure)),
        None => DASH.to_owned(),
    }
}

const DASH: &str = "-";
/// Behind the figure of a turn that was disturbed.
const DISTURBED: char = '!';

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
    fn turns_are_read_as_they_are_written_but_for_those_that_were_disturbed() {
        let mut turns = Turns::default();
        turns.note(0, 12.345_678, Quiet::Yes);
        turns.note(2, 99.0, Quiet::Disturbed);
        turns.note(3, 1_234_567.0, Quiet::Yes);
        let [median, _, highest, all] = Cell::interval(&turns);
        assert_eq!(all.exact(), "12.346 - 99.00! 1234600");
        assert_eq!(all.turns(), Some(vec![Some(12.346), None, None, Some(1_234_600.0)]));
        assert_eq!((median.turns(), highest), (None, Cell::Number(1_234_567.0)));
    }

    #[test]
    fn numbers_are_shown_with_four_digits_that_mean_something() {
        assert_eq!(four_digits(0.0), "0");
        assert_eq!(four_digits(12.604_321), "12.60");
        assert_eq!(four_digits(0.001_876_54), "0.001877");
        assert_eq!(four_digits(123_456.7), "123457");
        assert_eq!(four_digits(-0.5), "-0.5000");
    }
}
