use std::fs::File;
use std::path::Path;

use guira::{FileHeader, FileKind, LoadError};
use serde::Serialize;

use crate::arguments::PushArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::filter_bytes;
use crate::progress::Progress;
use crate::provenance::Provenance;
use crate::render::text::counted;
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;
use crate::server::{Address, Client, Existing};
use crate::shell;
use crate::stored_filter::StoredFilter;

pub(crate) fn run(arguments: &PushArguments) -> Result<ExitStatus, Failure> {
    let address = Address::parse(&arguments.url)?;
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let filter = Pushable::of_file(&arguments.file, key)?;
    let existing = if arguments.force { Existing::Replaced } else { Existing::Refused };
    let behind = filter.behind_header();
    let progress = Progress::of_sending(behind.len());
    let mut client = Client::connect(&address, &arguments.server.prefix)?;
    let replaced = client.push(&filter.dump_header(key), behind, existing, |sent| progress.advance(sent))?;
    drop(progress);
    let push = Push {
        address: address.shown,
        key_count: filter.header.len(),
        table_size_in_bytes: filter.header.parameters().table_size(),
        replaced,
    };
    tell(&push, arguments.json, arguments.quiet)?;
    filter.warn_of_normalization(&arguments.file);
    Ok(ExitStatus::Success)
}

/// A verified file of a kind that the module accepts.
struct Pushable {
    header: FileHeader,
    bytes: Vec<u8>,
    provenance: Provenance,
}

impl Pushable {
    fn of_file(path: &Path, key: Option<SecretKey>) -> Result<Self, Failure> {
        if filter_bytes::is_standard_input(path) {
            return Err(Failure::new("push reads a file, not standard input: give its path"));
        }
        let read = || -> Result<Self, LoadError> {
            let (header, bytes) = filter_bytes::read(File::open(path)?)?;
            // A wrong key is reported before anything else that is wrong with the file.
            header.hasher(key.map(SecretKey::bytes))?;
            header.verify(&bytes, key.map(SecretKey::bytes))?;
            let provenance = Provenance::of_file_bytes(&header, &bytes)?;
            if bytes.len() as u64 == header.file_size() {
                return Ok(Self { header, bytes, provenance });
            }
            // A server takes no journal.
            let mut without_journal = Vec::new();
            StoredFilter::read(&*bytes, key)?.write_uncompressed(&mut without_journal)?;
            let header = FileHeader::from_bytes(&without_journal)?;
            Ok(Self { header, bytes: without_journal, provenance })
        };
        let filter = read().map_err(|error| Failure::of_loading(path, &error))?;
        match filter.header.kind() {
            FileKind::Growing => Ok(filter),
            FileKind::Filter => {
                let parameters = filter.header.parameters();
                let rate = filter.provenance.rate;
                let rate = rate.unwrap_or_else(|| parameters.expected_false_positive_rate(parameters.capacity()));
                let hasher = filter.header.hasher(key.map(SecretKey::bytes));
                let hasher = hasher.map_err(|error| Failure::of_loading(path, &error))?;
                let text = format_args!(
                    "not pushed: a filter that does not grow ({}), and servers have growing ones. From the list of its keys: \
                     guira build --rate {} --max-capacity {}{} -o FILE LIST",
                    parameters.layout(),
                    shell::rate(rate),
                    parameters.capacity(),
                    shell::options_of_keys(&hasher, filter.provenance.normalization)
                );
                Err(Failure::of_file(path, text))
            }
            kind => Err(Failure::of_file(
                path,
                format_args!("not pushed: holds a {kind}, and servers have growing filters"),
            )),
        }
    }

    /// The table, and the chunks behind it.
    fn behind_header(&self) -> &[u8] {
        self.bytes.get(FileHeader::MIN_SIZE..).unwrap_or_default()
    }

    /// The header of a dump: the number of removals, which is 0, the header of the file, and the key.
    fn dump_header(&self, key: Option<SecretKey>) -> Vec<u8> {
        let key = key.map(SecretKey::bytes);
        [&0u64.to_le_bytes()[..], &self.bytes[..FileHeader::MIN_SIZE], key.as_ref().map_or(&[][..], |key| key)].concat()
    }

    fn warn_of_normalization(&self, path: &Path) {
        let normalization = self.provenance.normalization;
        let treatment = match (normalization.lowercase, normalization.trim) {
            (true, true) => "--lowercase and --trim",
            (true, false) => "--lowercase",
            (false, true) => "--trim",
            (false, false) => return,
        };
        report(format_args!(
            "warning: {}: built with {treatment}: clients of the server must treat their keys alike, since it does not",
            path.display()
        ));
    }
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Push {
    address: String,
    key_count: u64,
    table_size_in_bytes: u64,
    /// Whether a filter was replaced.
    replaced: bool,
}

impl Report for Push {
    fn text(&self) -> String {
        let replaced = if self.replaced { "; replaced the filter that was there" } else { "" };
        let (keys, bytes) = (counted(self.key_count, "key"), counted(self.table_size_in_bytes, "byte"));
        format!("{}: {keys}, a table of {bytes}{replaced}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use guira::CuckooFilter;
    use guira::raw::{Change, Journal};

    use super::*;

    #[test]
    fn a_journal_is_put_into_the_table_that_is_sent() {
        let builder = CuckooFilter::builder().capacity(100).max_capacity(1000).false_positive_rate(1e-6);
        let mut filter = builder.build().expect("possible");
        filter.insert("ani").expect("room");
        let mut file = filter.to_bytes();
        let journal = Journal::default();
        let changes = ["koel", "emu"].map(|key| Change::Insert(filter.hasher().digest(key)));
        file.extend(journal.start());
        file.extend(journal.batch(&changes));
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("set.guira");
        std::fs::write(&path, &file).expect("writable");

        let pushable = Pushable::of_file(&path, None).expect("it grows");
        for key in ["koel", "emu"] {
            filter.insert(key).expect("room");
        }
        assert_eq!(pushable.header.len(), 3);
        assert!([&pushable.dump_header(None)[8..], pushable.behind_header()].concat() == filter.to_bytes());
    }
}
