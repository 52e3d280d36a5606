//! The arguments of all commands that read keys.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::names::CompressionName;
use super::values;
use crate::keys::{EmptyKeys, FieldChoice, Fields, Inputs, KeyForm, KeyPart, Normalization, RecordEnd, Separator};

const HEADING: &str = "Input";
/// The arguments that choose fields, of which one at most is given.
const FIELDS: &str = "fields";
/// The arguments for which lines are divided into fields.
pub(super) const DIVIDED: &str = "divided";

#[derive(Args, Debug)]
#[command(group(ArgGroup::new(DIVIDED).multiple(true)))]
pub(crate) struct InputArguments {
    /// Files of keys, one on each line; "-", or no input at all, is standard input
    ///
    /// A line ends with LF or CR LF, which are not part of the key. An empty line is a key too, unless --skip-empty is given. A byte
    /// order mark of UTF-8 at the start of an input is skipped. Files compressed with gzip or zstd are decompressed.
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// A key itself, instead of a file; may be given several times
    #[arg(long = "key", short = 'e', value_name = "KEY", allow_hyphen_values = true, help_heading = HEADING)]
    keys: Vec<OsString>,

    /// Use these fields of each line as keys, separated by commas and counted from 1
    ///
    /// Each of the fields is a key of its own, also an empty one. Lines that have none of them are counted and reported.
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_parser = values::field,
        value_delimiter = ',',
        allow_hyphen_values = true,
        groups = [FIELDS, DIVIDED],
        help_heading = HEADING
    )]
    field: Vec<NonZeroUsize>,

    /// Use every field of each line as a key
    #[arg(long, groups = [FIELDS, DIVIDED], help_heading = HEADING)]
    any_field: bool,

    /// Use the fields with these names, separated by commas; the first line of each input has the names
    ///
    /// That line is not printed; --keep-header of check and unique prints that of the first input.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', groups = [FIELDS, DIVIDED], help_heading = HEADING)]
    header: Vec<String>,

    /// Each line is a JSON object: use the values at these paths, separated by commas, such as source.ip
    ///
    /// Strings, numbers as they are written (1 and 1.0 differ), true and false are keys; null and objects are none. Of an array,
    /// each element is one. Lines without such a value, or that are not JSON, are counted and reported.
    #[arg(
        long,
        value_name = "PATHS",
        value_parser = values::json_path,
        value_delimiter = ',',
        groups = [FIELDS, DIVIDED],
        conflicts_with_all = ["delimiter", "csv"],
        help_heading = HEADING
    )]
    json_field: Vec<String>,

    /// The byte between fields, or "blanks" for any number of spaces and tabs [default: a tab, or a comma with --csv]
    #[arg(long, short, value_name = "BYTE", requires = DIVIDED, value_parser = values::delimiter, help_heading = HEADING)]
    delimiter: Option<Separator>,

    /// The lines are CSV: fields may be quoted, and the key is what stands between the quotes
    ///
    /// A quoted field may contain delimiters, line ends, and quotes written twice.
    #[arg(long, requires = FIELDS, help_heading = HEADING)]
    csv: bool,

    /// Keys end with a NUL byte instead of a line end, as "find -print0" prints them; so do those that are printed
    #[arg(long, short = 'z', help_heading = HEADING)]
    null: bool,

    /// Take no key from empty lines and fields
    ///
    /// A line of nothing else is then treated as one without the field: build, add and remove leave it out, check takes it for one
    /// that is not in the filter, and unique prints it; each says how many there were. Without this option, an empty line or field
    /// is a key like others, and all of them are the same.
    #[arg(long, help_heading = HEADING)]
    skip_empty: bool,

    /// How the inputs are compressed [default: auto]
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t = CompressionName::Auto,
        hide_default_value = true,
        help_heading = HEADING
    )]
    compression: CompressionName,
}

impl InputArguments {
    /// The inputs. If `is_quiet`, only errors are reported.
    pub(crate) fn inputs(&self, normalization: Normalization, is_quiet: bool) -> Inputs {
        self.inputs_with(None, normalization, is_quiet)
    }

    /// The inputs, and one more before those that were named.
    pub(crate) fn inputs_with(&self, first: Option<&PathBuf>, normalization: Normalization, is_quiet: bool) -> Inputs {
        let paths: Vec<PathBuf> = first.into_iter().chain(&self.inputs).cloned().collect();
        Inputs::new(&self.keys, &paths, &self.form(), self.compression.into(), normalization, is_quiet)
            .with_empty_keys(self.empty_keys())
    }

    pub(crate) const fn empty_keys(&self) -> EmptyKeys {
        if self.skip_empty { EmptyKeys::Skipped } else { EmptyKeys::Taken }
    }

    pub(crate) fn form(&self) -> KeyForm {
        KeyForm { end: if self.null { RecordEnd::Null } else { RecordEnd::Line }, part: self.part() }
    }

    fn part(&self) -> KeyPart {
        let separator = self.separator();
        if !self.header.is_empty() {
            return KeyPart::Named { names: self.header.clone(), separator, csv: self.csv };
        }
        if !self.json_field.is_empty() {
            return KeyPart::Json(self.json_field.clone());
        }
        if self.field.is_empty() && !self.any_field {
            return KeyPart::Whole;
        }
        let choice = if self.any_field {
            FieldChoice::All
        } else {
            FieldChoice::listed(self.field.iter().map(|number| number.get() - 1).collect())
        };
        let fields = Fields { choice, separator };
        if self.csv { KeyPart::CsvFields(fields) } else { KeyPart::Fields(fields) }
    }

    /// What is between the fields.
    pub(crate) fn separator(&self) -> Separator {
        self.delimiter.unwrap_or(Separator::Byte(if self.csv { b',' } else { b'\t' }))
    }

    /// Refuses contradictory choices of fields that the command line's grammar allows.
    pub(crate) fn refuse_contradictions(&self) -> Result<(), crate::failure::Failure> {
        if self.csv && self.delimiter == Some(Separator::Blanks) {
            return Err(crate::failure::Failure::new("--delimiter blanks is not for CSV: leave out --csv"));
        }
        Ok(())
    }

    /// Returns `true` if records are CSV.
    pub(crate) const fn is_csv(&self) -> bool {
        self.csv
    }

    /// Returns `true` if records are JSON.
    pub(crate) const fn are_json(&self) -> bool {
        !self.json_field.is_empty()
    }

    /// The chosen fields, as they were given; `None` if whole lines are keys.
    pub(crate) fn fields(&self) -> Option<String> {
        let numbers = || self.field.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (list, count) = match (&*self.field, &*self.header, &*self.json_field) {
            ([], [], []) if self.any_field => return Some("fields".to_owned()),
            ([], [], []) => return None,
            ([], [], paths) => (paths.join(","), paths.len()),
            ([], names, _) => (names.join(","), names.len()),
            (fields, ..) => (numbers().join(","), fields.len()),
        };
        Some(format!("field{} {list}", if count == 1 { "" } else { "s" }))
    }
}
