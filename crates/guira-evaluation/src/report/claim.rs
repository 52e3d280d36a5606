use core::fmt;

use serde::{Deserialize, Serialize};

use super::{Origin, Rule, Table};
use crate::scale::Scale;

/// A claim about filters, the rule that decides it, and the result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// The claim, paraphrased.
    pub(crate) statement: String,
    /// The section and figure of the claim.
    pub(crate) place: String,
    pub(crate) whose: Whose,
    pub(crate) judged_at: JudgedAt,
    /// The index of the reproduction's table that the rule is about.
    pub(crate) table: usize,
    /// The rule, as it is evaluated.
    pub(crate) rule: String,
    pub(crate) verdict: Verdict,
    /// The values that decided.
    pub(crate) evidence: String,
    pub(crate) origin: Origin,
    pub(crate) rank: Rank,
}

/// Whose claim it is, and about whose algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Whose {
    /// The paper's claim about an algorithm that it describes.
    Paper,
    /// The paper's claim, applied to the library's algorithm.
    PaperOfLibrary,
    /// A claim of this project's own.
    Own,
}

/// The smallest scale that can judge a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JudgedAt {
    Every,
    Paper,
}

/// The weight of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rank {
    /// A main claim, which counts in the overall result.
    Main,
    Detail,
}

/// From good to bad: of two verdicts, the greater one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Verdict {
    #[serde(rename = "holds")]
    Holds,
    /// The compared intervals overlap.
    #[serde(rename = "within noise")]
    WithinNoise,
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// It can't be judged at this scale, or by these tables.
    #[serde(rename = "not judged")]
    NotJudged,
}

impl Whose {
    pub(crate) const ALL: [Self; 3] = [Self::Paper, Self::PaperOfLibrary, Self::Own];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::PaperOfLibrary => "paper's words, guira's algorithm",
            Self::Own => "guira's own claim",
        }
    }
}

/// Claims about one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge<'table> {
    pub(crate) table: &'table Table,
    /// The table's index in the reproduction.
    pub(crate) number: usize,
    pub(crate) scale: Scale,
}

impl Judge<'_> {
    /// A claim of the paper that every scale can judge.
    pub(crate) fn claim(self, place: &str, statement: impl Into<String>, rule: &Rule) -> Claim {
        let (verdict, evidence) = rule.judge(self.table);
        Claim {
            statement: statement.into(),
            place: place.to_owned(),
            whose: Whose::Paper,
            judged_at: JudgedAt::Every,
            table: self.number,
            rule: rule.to_string(),
            verdict,
            evidence,
            origin: rule.origin(self.table),
            rank: Rank::Detail,
        }
    }

    /// A claim of the paper that needs large tables, as claims about times do.
    pub(crate) fn claim_at_paper_scale(self, place: &str, statement: impl Into<String>, rule: &Rule) -> Claim {
        let claim = self.claim(place, statement, rule);
        let verdict = if self.scale.is_quick() { Verdict::NotJudged } else { claim.verdict };
        Claim { judged_at: JudgedAt::Paper, verdict, ..claim }
    }
}

impl Claim {
    /// A main claim, which counts in the overall result.
    pub(crate) fn main(self) -> Self {
        Self { rank: Rank::Main, ..self }
    }

    pub(crate) fn of(self, whose: Whose) -> Self {
        Self { whose, ..self }
    }

    pub(crate) fn is_judged(&self) -> bool {
        self.verdict != Verdict::NotJudged
    }

    pub(crate) fn is_main(&self) -> bool {
        self.rank == Rank::Main
    }
}

impl Verdict {
    /// In order, for counting.
    pub(crate) const ALL: [Self; 4] = [Self::Holds, Self::WithinNoise, Self::DoesNotHold, Self::NotJudged];

    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::WithinNoise => "noise",
            Self::DoesNotHold => "fails",
            Self::NotJudged => "unjudged",
        }
    }

    /// A mark, for those who don't see colours.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::WithinNoise => "≈",
            Self::DoesNotHold => "✗",
            Self::NotJudged => "–",
        }
    }
}

impl JudgedAt {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Every => "every scale",
            Self::Paper => "paper scale",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Holds => "holds",
            Self::WithinNoise => "within noise",
            Self::DoesNotHold => "does not hold",
            Self::NotJudged => "not judged",
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statement, verdict, evidence, place, whose, rule, .. } = self;
        write!(formatter, "{statement}: {verdict} ({evidence}); {place}, {}; by {rule}", whose.name())
    }
}
