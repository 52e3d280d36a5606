use std::path::Path;

use guira::{FileHeader, FileKind, LoadError};
use serde::Serialize;

use crate::arguments::PullArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::filter_file::{Existing, Replaced};
use crate::filter_output::{self, FilterOutput};
use crate::progress::Progress;
use crate::provenance::{Provenance, TimeSource};
use crate::render::text::counted;
use crate::render::{Report, tell};
use crate::same_file::SameFile;
use crate::secret_key::SecretKey;
use crate::server::{Address, Client, DumpHeader, Secrecy};
use crate::shell::quoted;

pub(crate) fn run(arguments: &PullArguments) -> Result<ExitStatus, Failure> {
    let address = Address::parse(&arguments.url)?;
    if arguments.save_key.as_ref().is_some_and(|path| is_one_file(path, &arguments.output)) {
        let text = "the filter goes there: give another file for --save-key";
        return Err(Failure::of_file(&arguments.output, text));
    }
    arguments.key.refuse_as_output(&arguments.output)?;
    let existing = if arguments.force { Existing::Replaced } else { Existing::Refused };
    let output = FilterOutput::new(&arguments.output, existing, arguments.json, arguments.wait.with(arguments.quiet))?;
    let given = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let mut client = Client::connect(&address, &arguments.server.prefix)?;
    let secrecy = if arguments.save_key.is_some() { Secrecy::Asked } else { Secrecy::LeftOut };
    let dump = client.dump_header(secrecy)?;
    let key = key_for(arguments, &dump, given).map_err(|message| Failure::of(&*address.shown, message))?;
    let mut bytes = receive(&mut client, &dump, &address)?;
    let verified = dump.header.verify(&bytes, key.map(SecretKey::bytes));
    // Chunks are read at different moments, and the checksum is that of the first.
    verified.map_err(|_| client.changed())?;
    say_whose_time_it_is(&dump.header, &mut bytes).map_err(|error| Failure::of(&*address.shown, error))?;
    if let (Some(path), Some(key)) = (&arguments.save_key, key) {
        key.save(path)?;
    }
    let replaced = output.commit_bytes(&bytes)?;
    let secret_key = match (dump.header.has_secret_key(), key, &arguments.save_key) {
        (false, ..) => Secret::None,
        (true, None, _) => Secret::NotGiven,
        (true, Some(_), None) => Secret::Fits,
        (true, Some(_), Some(_)) => Secret::Saved,
    };
    let pull = Pull {
        file: filter_output::name(&arguments.output),
        address: address.shown,
        key_count: dump.header.len(),
        table_size_in_bytes: dump.header.parameters().table_size(),
        secret_key,
        replaced_key_count: replaced.and_then(|replaced| replaced.key_count),
        replaced,
    };
    tell(&pull, arguments.json, arguments.quiet)?;
    if secret_key == Secret::NotGiven {
        report(format_args!(
            "warning: {}: made with a secret key, which stays on the server: what asks the file needs it, and --save-key KEYFILE \
             writes it",
            pull.file
        ));
    }
    Ok(ExitStatus::Success)
}

/// Whether two paths lead to one file, or would if it was there.
fn is_one_file(first: &Path, second: &Path) -> bool {
    match [first, second].map(SameFile::of) {
        [None, None] => std::path::absolute(first).ok() == std::path::absolute(second).ok(),
        [first, second] => first == second,
    }
}

/// The secret key to verify the file with, if it is known.
fn key_for(
    arguments: &PullArguments,
    dump: &DumpHeader,
    given: Option<SecretKey>,
) -> Result<Option<SecretKey>, String> {
    if !dump.header.has_secret_key() {
        return match (&arguments.save_key, given) {
            (Some(path), _) => Err(format!("has no secret key: leave out --save-key {}", quoted(path))),
            (None, Some(_)) => Err("has no secret key: leave out --key-file".to_owned()),
            (None, None) => Ok(None),
        };
    }
    let key = given.or(dump.key.map(SecretKey::new));
    if let Some(key) = key {
        dump.header.hasher(Some(key.bytes())).map_err(|error| error.to_string())?;
    }
    Ok(key)
}

/// Notes in the file of a filter whose keys expire that its time is in milliseconds of the clock: a server counts no other, and
/// does not say so.
fn say_whose_time_it_is(header: &FileHeader, file: &mut Vec<u8>) -> Result<(), LoadError> {
    if header.kind() != FileKind::Expiring {
        return Ok(());
    }
    let provenance = Provenance::of_file_bytes(header, file)?;
    if provenance.time_source.is_some() {
        return Ok(());
    }
    Provenance { time_source: Some(TimeSource::Clock), ..provenance }.replace_in(header, file)
}

/// Downloads the bytes of the file.
fn receive(client: &mut Client<'_>, dump: &DumpHeader, address: &Address) -> Result<Vec<u8>, Failure> {
    let end = usize::try_from(dump.header.file_size()).ok();
    let mut bytes = dump.bytes.clone();
    let reserved = end.map(|end| bytes.try_reserve_exact(end - bytes.len()));
    let (Some(end), Some(Ok(()))) = (end, reserved) else {
        let size = counted(dump.header.file_size(), "byte");
        return Err(Failure::of(&*address.shown, format_args!("not enough memory for its file of {size}")));
    };
    let progress = Progress::of_receiving(dump.header.file_size());
    while bytes.len() < end {
        let chunk = client.dump_chunk(bytes.len() - FileHeader::MIN_SIZE)?;
        if chunk.len() > end - bytes.len() {
            return Err(client.changed());
        }
        bytes.extend_from_slice(&chunk);
        progress.advance(chunk.len());
    }
    Ok(bytes)
}

/// What is known of the filter's secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Secret {
    None,
    NotGiven,
    Fits,
    Saved,
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Pull {
    file: String,
    address: String,
    key_count: u64,
    table_size_in_bytes: u64,
    secret_key: Secret,
    /// The keys of a filter that was replaced.
    replaced_key_count: Option<u64>,
    #[serde(skip)]
    replaced: Option<Replaced>,
}

impl Report for Pull {
    fn text(&self) -> String {
        let (keys, bytes) = (counted(self.key_count, "key"), counted(self.table_size_in_bytes, "byte"));
        format!("{}: {keys}, a table of {bytes}{}", self.file, Replaced::text(self.replaced))
    }
}
