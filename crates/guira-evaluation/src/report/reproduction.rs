use serde::Serialize;

use super::{Chart, Claim, Table};

/// A table or figure of the paper, measured again.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reproduction {
    /// What it is called on the command line, and its files: `table-3`.
    pub(crate) name: &'static str,
    pub(crate) title: String,
    /// What was done, and what to keep in mind.
    pub(crate) method: String,
    pub(crate) tables: Vec<Table>,
    #[serde(skip)]
    pub(crate) charts: Vec<Chart>,
    pub(crate) claims: Vec<Claim>,
}

impl Reproduction {
    /// All of it but the charts, which are named: `.svg` files beside.
    pub(crate) fn to_markdown(&self) -> String {
        let mut markdown = format!("## {}\n\n{}\n", self.title, self.method);
        for table in &self.tables {
            markdown += &format!("\n{}:\n\n{}", table.title, table.to_markdown());
        }
        for chart in &self.charts {
            markdown += &format!("\n![{}]({}.svg)\n", chart.title, chart.name);
        }
        if !self.claims.is_empty() {
            markdown.push('\n');
        }
        for claim in &self.claims {
            markdown += &format!("- {claim}\n");
        }
        markdown
    }
}
