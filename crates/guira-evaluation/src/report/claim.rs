use core::fmt;

use serde::{Deserialize, Serialize};

use super::pairs::{self, Odds};
use super::rule::{Compared, Finding, evidence};
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
    /// The numbers of the statements in the list of all claims that it judges.
    #[serde(default)]
    pub(crate) numbers: Vec<u32>,
    /// What the source says, in numbers.
    #[serde(default)]
    pub(crate) printed: String,
    /// Why it comes out so, as far as that is known.
    #[serde(default)]
    pub(crate) reason: String,
    /// The turns that counted and those that were left out, if it is decided by times.
    #[serde(default)]
    pub(crate) turns: Option<[u32; 2]>,
    /// If it is undecided, about how many more turns would decide it; nothing if none would.
    #[serde(default)]
    pub(crate) more_turns: Option<u32>,
    #[serde(skip)]
    compared: Vec<Compared>,
}

/// Whose claim it is, and about whose algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Whose {
    /// The paper's claim about an algorithm that it describes.
    Paper,
    /// A claim of the other documents: of 2006, of 2016, and of a page that explains the filter.
    Others,
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
    /// Tables that are larger than most caches.
    Medium,
    /// The sizes of the paper.
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
    /// The turns do not decide it.
    #[serde(rename = "undecided", alias = "within noise")]
    Undecided,
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// It can't be judged at this scale, or by these tables.
    #[serde(rename = "not judged")]
    NotJudged,
}

impl Whose {
    pub(crate) const ALL: [Self; 4] = [Self::Paper, Self::Others, Self::PaperOfLibrary, Self::Own];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Others => "other documents",
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

impl<'table> Judge<'table> {
    /// The judge of one of several tables.
    pub(crate) fn new(tables: &'table [Table], number: usize, scale: Scale) -> Self {
        Self { table: &tables[number], number, scale }
    }

    /// A claim of the paper. Counts judge it at every scale, times only in tables that are larger than most caches.
    pub(crate) fn claim(self, place: &str, statement: impl Into<String>, rule: &Rule) -> Claim {
        let mut claim = Claim {
            statement: statement.into(),
            place: place.to_owned(),
            whose: Whose::Paper,
            judged_at: JudgedAt::Every,
            table: self.number,
            rule: rule.to_string(),
            verdict: Verdict::NotJudged,
            evidence: String::new(),
            origin: rule.origin(self.table),
            rank: Rank::Detail,
            numbers: Vec::new(),
            printed: String::new(),
            reason: String::new(),
            turns: None,
            more_turns: None,
            compared: Vec::new(),
        };
        let finding = rule.find(self.table);
        // What is drawn at random is not counted again in the same way, but it takes no large tables.
        if claim.origin == Origin::Timed && !matches!(finding, Finding::Counted(..)) {
            claim.judged_at = JudgedAt::Medium;
        }
        match finding {
            Finding::Counted(verdict, evidence) => {
                (claim.verdict, claim.evidence) = (verdict, evidence);
            }
            Finding::Timed(_) if self.scale.is_quick() => claim.evidence = "needs larger tables".to_owned(),
            Finding::Timed(compared) => claim.compared = compared,
            Finding::TurnsMissing => claim.evidence = "its single turns were not kept".to_owned(),
            Finding::Nothing => claim.evidence = "not measured at this scale".to_owned(),
        }
        claim
    }

    /// A claim about tables of the paper's size.
    pub(crate) fn claim_at_paper_scale(self, place: &str, statement: impl Into<String>, rule: &Rule) -> Claim {
        let claim = self.claim(place, statement, rule);
        if self.scale == Scale::Paper {
            return Claim { judged_at: JudgedAt::Paper, ..claim };
        }
        let evidence = "needs tables of the paper's size".to_owned();
        Claim { judged_at: JudgedAt::Paper, verdict: Verdict::NotJudged, evidence, compared: Vec::new(), ..claim }
    }
}

/// Decides all claims of times together: the level of each depends on how many there are.
pub(crate) fn settle<'claims>(claims: impl IntoIterator<Item = &'claims mut Claim>) {
    let mut timed: Vec<(&mut Claim, Odds)> = claims
        .into_iter()
        .filter_map(|claim| {
            let odds = Odds::of(&claim.outcomes())?;
            Some((claim, odds))
        })
        .collect();
    let level = pairs::level_of_each(timed.iter().map(|(_, odds)| odds.probability()));
    for (claim, odds) in &mut timed {
        claim.decide(*odds, level);
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

    /// That it judges these statements of the list of all claims.
    pub(crate) fn judging(mut self, numbers: impl IntoIterator<Item = u32>) -> Self {
        self.numbers.extend(numbers);
        self
    }

    /// What the source says, in numbers.
    pub(crate) fn printed(self, printed: impl Into<String>) -> Self {
        Self { printed: printed.into(), ..self }
    }

    /// Why it comes out so.
    pub(crate) fn since(self, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..self }
    }

    fn outcomes(&self) -> Vec<Vec<pairs::Outcome>> {
        self.compared.iter().map(|compared| compared.outcomes.clone()).collect()
    }

    fn decide(&mut self, odds: Odds, level: f64) {
        let outcomes = self.outcomes();
        let count = |outcomes: &[pairs::Outcome]| {
            let counted = outcomes.iter().flatten().count();
            [counted, outcomes.len() - counted].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
        };
        self.turns = outcomes.iter().map(|outcomes| count(outcomes)).min();
        self.evidence = evidence(&self.compared, level);
        self.verdict = match odds.decision(level) {
            Some(true) => Verdict::Holds,
            Some(false) => Verdict::DoesNotHold,
            None => Verdict::Undecided,
        };
        let is_open = self.verdict == Verdict::Undecided;
        self.more_turns = if is_open { pairs::more_turns(&outcomes, level) } else { None };
    }

    /// How often it was tried and, if that was not enough, how often it would have to be.
    pub(crate) fn tried(&self) -> String {
        let Some([counted, left_out]) = self.turns else { return String::new() };
        if counted == 0 {
            return format!("no turn counts, {left_out} left out");
        }
        let mut tried = format!("{counted} turns");
        if left_out > 0 {
            tried += &format!(", {left_out} left out");
        }
        match (self.verdict, self.more_turns) {
            (Verdict::Undecided, Some(more)) => tried + &format!("; about {more} more would decide"),
            (Verdict::Undecided, None) => tried + "; at its border, so that no number of turns would decide",
            _ => tried,
        }
    }

    pub(crate) fn is_main(&self) -> bool {
        self.rank == Rank::Main
    }
}

impl Verdict {
    /// In order, for counting.
    pub(crate) const ALL: [Self; 4] = [Self::Holds, Self::Undecided, Self::DoesNotHold, Self::NotJudged];

    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Undecided => "undecided",
            Self::DoesNotHold => "fails",
            Self::NotJudged => "unjudged",
        }
    }

    /// A mark, for those who don't see colours.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::Undecided => "≈",
            Self::DoesNotHold => "✗",
            Self::NotJudged => "–",
        }
    }
}

impl JudgedAt {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Every => "every scale",
            Self::Medium => "medium scale",
            Self::Paper => "paper scale",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Holds => "holds",
            Self::Undecided => "undecided",
            Self::DoesNotHold => "does not hold",
            Self::NotJudged => "not judged",
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statement, verdict, evidence, place, whose, rule, .. } = self;
        let tried = self.tried();
        let tried = if tried.is_empty() { tried } else { format!("; {tried}") };
        write!(formatter, "{statement}: {verdict} ({evidence}{tried}); {place}, {}; by {rule}", whose.name())
    }
}
