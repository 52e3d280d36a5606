use core::fmt;

use serde::{Deserialize, Serialize};

use super::Origin;

/// Something that the paper says, and what was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// The claim in the paper's sense.
    pub(crate) statement: String,
    pub(crate) verdict: Verdict,
    /// The numbers that decided.
    pub(crate) evidence: String,
    pub(crate) origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    #[serde(rename = "holds")]
    Holds,
    #[serde(rename = "does not hold")]
    DoesNotHold,
}

impl Verdict {
    pub(crate) const fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNotHold }
    }
}

impl Claim {
    /// A claim that counts decide.
    pub(crate) fn counted(statement: impl Into<String>, verdict: Verdict, evidence: impl Into<String>) -> Self {
        Self { statement: statement.into(), verdict, evidence: evidence.into(), origin: Origin::Counted }
    }

    /// A claim that times decide.
    pub(crate) fn timed(statement: impl Into<String>, verdict: Verdict, evidence: impl Into<String>) -> Self {
        Self { statement: statement.into(), verdict, evidence: evidence.into(), origin: Origin::Timed }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {} ({})", self.statement, self.verdict, self.evidence)
    }
}
