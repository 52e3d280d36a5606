use serde::{Deserialize, Serialize};

/// How a curve is drawn: colour and marker identify the filter, and the line whose algorithm it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Style {
    /// The number of a colour and of a marker; both differ in grey print too.
    pub(crate) number: usize,
    pub(crate) line: Line,
}

/// Whose algorithm it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Line {
    /// The paper's, or another's: with filled markers.
    Solid,
    /// The library's: with hollow ones.
    Dashed,
    /// A formula or a bound: without any.
    Dotted,
}

impl Style {
    pub(crate) const fn solid(number: usize) -> Self {
        Self { number, line: Line::Solid }
    }

    pub(crate) const fn dashed(number: usize) -> Self {
        Self { number, line: Line::Dashed }
    }

    pub(crate) const fn dotted(number: usize) -> Self {
        Self { number, line: Line::Dotted }
    }
}
