//! The arguments of all commands that read keys.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::names::CompressionName;
use super::values;
use crate::keys::{Field, Inputs, KeyForm, KeyPart, RecordEnd};

const HEADING: &str = "Input options";

#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    /// Files of keys, each a line without its end, LF or CR LF; "-", or none at all, is standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Keys end with a NUL byte instead of a line end, such as the names that "find -print0" prints; so do those that
    /// are printed
    #[arg(long, short = 'z', help_heading = HEADING)]
    null: bool,

    /// The key is this field of each line, counted from 1. A line without such a field has no key; such lines are
    /// counted and reported
    #[arg(long, short, value_name = "N", value_parser = values::field, allow_negative_numbers = true, help_heading = HEADING)]
    field: Option<NonZeroUsize>,

    /// The byte between fields [default: a tab, or a comma with --csv]
    #[arg(long, short, value_name = "BYTE", requires = "field", value_parser = values::delimiter, help_heading = HEADING)]
    delimiter: Option<u8>,

    /// Fields may stand in double quotes, with delimiters, line ends and doubled quotes in them, and the key is what is
    /// between the quotes
    #[arg(long, requires = "field", help_heading = HEADING)]
    csv: bool,

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
    pub(crate) fn inputs(&self) -> Inputs {
        Inputs::named(&self.inputs, self.form(), self.compression.into())
    }

    pub(crate) fn form(&self) -> KeyForm {
        let end = if self.null { RecordEnd::Null } else { RecordEnd::Line };
        let part = match self.field {
            None => KeyPart::Whole,
            Some(number) => {
                let usual = if self.csv { b',' } else { b'\t' };
                let field = Field { index: number.get() - 1, delimiter: self.delimiter.unwrap_or(usual) };
                if self.csv { KeyPart::CsvField(field) } else { KeyPart::Field(field) }
            }
        };
        KeyForm { end, part }
    }

    /// The number of the field that is the key, as it was given.
    pub(crate) fn field_number(&self) -> Option<NonZeroUsize> {
        self.field
    }
}
