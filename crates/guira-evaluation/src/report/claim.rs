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
    pub(crate) rank: Rank,
}

/// What a claim weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rank {
    /// One by which the whole is judged.
    Main,
    Detail,
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
        Self {
            statement: statement.into(),
            verdict,
            evidence: evidence.into(),
            origin: Origin::Counted,
            rank: Rank::Detail,
        }
    }

    /// A claim that times decide.
    pub(crate) fn timed(statement: impl Into<String>, verdict: Verdict, evidence: impl Into<String>) -> Self {
        Self {
            statement: statement.into(),
            verdict,
            evidence: evidence.into(),
            origin: Origin::Timed,
            rank: Rank::Detail,
        }
    }
}

impl Claim {
    /// The same as one by which the whole is judged.
    pub(crate) fn main(self) -> Self {
        Self { rank: Rank::Main, ..self }
    }

    pub(crate) fn is_main(&self) -> bool {
        self.rank == Rank::Main
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
