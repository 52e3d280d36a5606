//! Table 1: what each kind of filter costs and can do.

use super::space::Space;
use crate::contender::Kind;
use crate::failure::Failure;
use crate::keys::Keys;
use crate::measure::{check_present, timed_removals};
use crate::report::{Cell, Claim, Column, Judge, Reproduction, Table, Whose, cells};
use crate::scale::Scale;

/// The paper's row for a kind of filter.
struct Printed {
    kind: Kind,
    /// Space, relative to a Bloom filter: the least and the most, and the printed text.
    space: [f64; 2],
    space_text: &'static str,
    removal: Removal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Removal {
    Supported,
    Unsupported,
}

const PRINTED: [Printed; 9] = [
    Printed::of(Kind::Bloom, [1.0, 1.0], "1", Removal::Unsupported),
    Printed::of(Kind::BlockedBloom, [1.0, 1.0], "1", Removal::Unsupported),
    Printed::of(Kind::CountingBloom, [3.0, 4.0], "3 to 4", Removal::Supported),
    Printed::of(Kind::DLeft, [1.5, 2.0], "1.5 to 2", Removal::Supported),
    Printed::of(Kind::Quotient, [1.0, 1.2], "1 to 1.2", Removal::Supported),
    Printed::of(Kind::Printed, [0.0, 1.0], "at most 1", Removal::Supported),
    Printed::of(Kind::PrintedSemiSorted, [0.0, 1.0], "at most 1", Removal::Supported),
    Printed::of(Kind::Packed, [0.0, 1.0], "at most 1", Removal::Supported),
    Printed::of(Kind::SemiSorted, [0.0, 1.0], "at most 1", Removal::Supported),
];

/// "1.0" has one decimal: every space that rounds to it agrees.
const SPACE_TOLERANCE: f64 = 0.05;

impl Printed {
    const fn of(kind: Kind, space: [f64; 2], space_text: &'static str, removal: Removal) -> Self {
        Self { kind, space, space_text, removal }
    }
}

impl Removal {
    const fn name(self) -> &'static str {
        match self {
            Self::Supported => "yes",
            Self::Unsupported => "no",
        }
    }
}

pub(super) fn reproduce(scale: Scale) -> Result<Reproduction, Failure> {
    let memory = scale.space_memory();
    let keys = Keys::of_seed(1);
    let columns =
        ["filter", "bits per key", "rate, %", "space, in Bloom filters", "paper: space", "removal", "paper: removal"];
    let mut table = Table::new("Table 1", columns.map(Column::counted).into());
    for printed in PRINTED {
        let name = printed.kind.name();
        let mut space = Space::of(printed.kind, memory, keys, scale)?;
        let removal = remove_half(name, &mut space, keys)?;
        let cost = space.bits_per_key / guira::analysis::bloom_bits_per_key(space.rate);
        table.push(vec![
            Cell::text(name),
            Cell::Number(space.bits_per_key),
            Cell::Number(100.0 * space.rate),
            Cell::Number(cost),
            Cell::text(printed.space_text),
            Cell::text(removal.name()),
            Cell::text(printed.removal.name()),
        ]);
    }
    Ok(Reproduction {
        name: "table-1".to_owned(),
        title: "Table 1: properties of filters".to_owned(),
        method: format!(
            "Filters of {} are filled as in table 3; the counting Bloom filter has counters of four bits and nine probes. \
             Space is compared with the log2(1/ε) / ln 2 bits per key of a Bloom filter of the same, measured rate. \
             Removal: the first half of the keys is removed, then the other half must be there.",
            memory.name()
        ),
        tables: vec![table],
        charts: Vec::new(),
        claims: Vec::new(),
    })
}

pub(super) fn claims(tables: &[Table], scale: Scale) -> Vec<Claim> {
    const PLACE: &str = "section 2, table 1";
    const PLACE_OF_TEXT: &str = "section 2.1";
    let judge = Judge::new(tables, 0, scale);
    let cost = |kind: Kind| cells("space, in Bloom filters").of("filter", kind.name());
    let of = |printed: &Printed| {
        let name = printed.kind.name();
        let whose = if printed.kind.is_of_paper() { Whose::Paper } else { Whose::PaperOfLibrary };
        let [least, most] = printed.space;
        let cost = || cost(printed.kind);
        let at_most = cost().at_most_about(most, SPACE_TOLERANCE);
        let space = if least > 0.0 { cost().at_least_about(least, SPACE_TOLERANCE).and(at_most) } else { at_most };
        let takes = format!("{name} takes {} times the space of a Bloom filter", printed.space_text);
        let removes = format!("{name}: removal, {}", printed.removal.name());
        let removal = cells("removal").of("filter", name).is(printed.removal.name());
        [judge.claim(PLACE, takes, &space), judge.claim(PLACE, removes, &removal)].map(|claim| claim.of(whose))
    };
    let mut claims: Vec<Claim> = PRINTED.iter().flat_map(of).collect();
    claims.extend([
        judge
            .claim(
                PLACE_OF_TEXT,
                "QF needs 10 to 25 % more space than BF",
                &cost(Kind::Quotient)
                    .at_least_about(1.1, SPACE_TOLERANCE / 10.0)
                    .and(cost(Kind::Quotient).at_most_about(1.25, SPACE_TOLERANCE / 10.0)),
            )
            .judging([36])
            .since("at nine tenths of its slots; by its formula it is 18 % more at 75 % and 25 % more at 70 %"),
        judge
            .claim(
                PLACE_OF_TEXT,
                "dl-CBF needs 50 % less space than the counting BF",
                &cost(Kind::DLeft).over(cost(Kind::CountingBloom)).at_most(0.5),
            )
            .judging([37]),
        judge
            .claim(
                PLACE_OF_TEXT,
                "CF is more compact than dl-CBF at the same rate",
                &cost(Kind::Printed).below(cost(Kind::DLeft)),
            )
            .judging([38]),
    ]);
    claims
}

/// Removes the first half of all keys, if possible, and looks up the others.
fn remove_half(name: &str, space: &mut Space, keys: Keys) -> Result<Removal, Failure> {
    let half = space.stored / 2;
    let Some(removing) = space.contender.as_removing() else { return Ok(Removal::Unsupported) };
    timed_removals(name, removing, keys, 0..half)?;
    check_present(name, space.contender.as_ref(), keys, half..space.stored)?;
    Ok(Removal::Supported)
}
