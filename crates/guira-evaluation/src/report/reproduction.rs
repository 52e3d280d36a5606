use serde::{Deserialize, Serialize};

use super::{Chart, Claim, Table};

/// A table or figure of the paper, measured again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reproduction {
    /// Its name on the command line and of its files: `table-3`.
    pub(crate) name: String,
    pub(crate) title: String,
    /// How it was measured, with caveats.
    pub(crate) method: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) charts: Vec<Chart>,
    pub(crate) claims: Vec<Claim>,
}

impl Reproduction {
    /// The name of the CSV file of a table.
    pub(super) fn file(&self, number: usize) -> String {
        let suffix = if number == 0 { String::new() } else { format!("-{}", number + 1) };
        format!("{}{suffix}.csv", self.name)
    }

    /// Everything except the charts, which are named: they are `.svg` files.
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
