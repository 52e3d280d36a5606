//! The list of all statements of the documents, in a file of the repository, and which claims judge each.

use serde::Deserialize;

use super::{Claim, Measured, Verdict};

/// The file, whose first line has the names of the columns.
const LIST: &str = include_str!("../../claims.csv");

/// A statement of a document, in this project's words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Statement {
    pub(super) number: u32,
    pub(super) place: String,
    pub(super) statement: String,
    #[serde(rename = "why it is not judged")]
    pub(super) why_not: String,
}

/// A statement, and what became of it.
pub(super) struct Told {
    pub(super) statement: Statement,
    /// The worst verdict of the claims that judge it; nothing if none does.
    pub(super) verdict: Option<Verdict>,
}

/// All statements, in order.
pub(super) fn statements() -> Result<Vec<Statement>, csv::Error> {
    csv::Reader::from_reader(LIST.as_bytes()).deserialize().collect()
}

/// All statements with the verdicts of a page.
pub(super) fn told(measured: &[Measured]) -> Result<Vec<Told>, csv::Error> {
    let claims = || measured.iter().flat_map(|measured| &measured.reproduction.claims);
    let told = |statement: Statement| {
        let judging = claims().filter(|claim: &&Claim| claim.numbers.contains(&statement.number));
        Told { verdict: judging.map(|claim| claim.verdict).reduce(worse), statement }
    };
    Ok(statements()?.into_iter().map(told).collect())
}

/// The worse of two verdicts; one that was not given only counts where there is no other.
fn worse(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::NotJudged, other) => other,
        (one, Verdict::NotJudged) => one,
        _ => one.max(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_numbered_and_has_places() -> Result<(), csv::Error> {
        let statements = statements()?;
        assert_eq!(statements.len(), 63);
        for (statement, number) in statements.iter().zip(1..) {
            assert_eq!(statement.number, number);
            assert!(!statement.place.is_empty() && statement.statement.len() > 15, "{statement:?}");
        }
        Ok(())
    }
}
