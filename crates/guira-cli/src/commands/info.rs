use guira::ExpiringCuckooFilter;
use serde::Serialize;

use crate::arguments::InfoArguments;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::inspection::{Expiry, Inspection};
use crate::provenance::{Provenance, TimeSource};
use crate::render::{Doublings, Report, escaped, names, print, text};
use crate::secret_key::SecretKey;
use crate::time;

pub(crate) fn run(arguments: &InfoArguments) -> Result<ExitStatus, Failure> {
    let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
    let mut inspection = Inspection::of_header(&arguments.file, key)?;
    let time_source = inspection.provenance.time_source;
    match &mut inspection.expiry {
        None => arguments.now.refuse_for_lasting(&arguments.file)?,
        Some(Expiry { filter: Some(filter), .. }) => {
            arguments.now.warn_of_time_ahead(&arguments.file, filter, time_source);
            arguments.now.bring_expiring(&arguments.file, filter, time_source)?;
        }
        Some(_) => {}
    }
    if arguments.quiet {
        return Ok(ExitStatus::Success);
    }
    print(&FilterReport::new(&inspection), arguments.json)?;
    Ok(ExitStatus::Success)
}

/// The report. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct FilterReport {
    /// `None` for a stream.
    file_size_in_bytes: Option<u64>,
    kind: &'static str,
    layout: String,
    addressing: String,
    hash: &'static str,
    /// `None` if the hash has a secret key.
    seed: Option<u64>,
    /// What is known of the secret key, if the filter has one.
    secret_key: Option<&'static str>,
    fingerprint_bits: u32,
    bits_per_slot: u32,
    /// For maps and counting filters, the bits beside each fingerprint.
    value_bits: Option<u32>,
    slots_per_bucket: u32,
    /// The number of candidate buckets of a key.
    candidates: u32,
    region_count: u64,
    bucket_count: u64,
    slot_count: u64,
    table_size_in_bytes: u64,
    capacity: u64,
    /// For growing filters, the number of keys up to which the rate is promised.
    max_capacity: Option<u64>,
    /// For growing filters, how often the table was doubled.
    doublings: Option<Doublings>,
    key_count: u64,
    /// The insertions and removals in the journal, which the table does not have yet.
    journal_change_count: u64,
    /// Whether it ends with changes that were not written to their end.
    has_incomplete_changes: bool,
    #[serde(flatten)]
    expiry: Option<ExpiryReport>,
    load_factor: f64,
    expected_false_positive_rate: f64,
    expected_false_positive_rate_at_capacity: f64,
    /// `None` for an empty filter.
    bits_per_key: Option<f64>,
    bits_per_key_at_capacity: f64,
    provenance: Provenance,
}

/// When keys expire. Times are in milliseconds, if this program made the filter, and otherwise in a unit of its maker.
#[derive(Debug, Serialize)]
struct ExpiryReport {
    lifetime: u64,
    resolution: u64,
    /// The time that the file has reached.
    time: u64,
    /// The time for which keys were counted.
    now: Option<u64>,
    /// `None` without the secret key, like the next.
    living_count: Option<u64>,
    /// Fingerprints of dead keys that are still in the file.
    dead_count: Option<u64>,
}

impl FilterReport {
    fn new(inspection: &Inspection) -> Self {
        let Inspection { header, secret, provenance, journal, file_size, expiry } = inspection;
        let parameters = header.parameters();
        let filter = expiry.as_ref().and_then(|expiry| expiry.filter.as_ref());
        let key_count = filter.map_or(inspection.key_count(), |filter| filter.len() as u64);
        let living_of = |in_table| expiry.as_ref().map_or(in_table, |expiry| expiry.living_of(in_table));
        let load_factor = |count| load_factor(count, parameters.slot_count());
        let bits_per_key = |load_factor| f64::from(parameters.bits_per_slot()) / load_factor;
        let capacity = living_of(parameters.capacity());
        Self {
            file_size_in_bytes: *file_size,
            kind: names::kind(header.kind()),
            layout: parameters.layout().to_string(),
            addressing: parameters.addressing().to_string(),
            hash: names::hash(*secret),
            seed: header.hasher(None).ok().map(|hasher| hasher.seed()),
            secret_key: names::secret(*secret),
            fingerprint_bits: parameters.fingerprint_bits(),
            bits_per_slot: parameters.bits_per_slot(),
            value_bits: Some(parameters.value_bits()).filter(|&bits| bits > 0),
            slots_per_bucket: parameters.slots_per_bucket(),
            candidates: parameters.addressing().candidates(),
            region_count: parameters.region_count(),
            bucket_count: parameters.bucket_count(),
            slot_count: parameters.slot_count(),
            table_size_in_bytes: parameters.table_size(),
            capacity,
            max_capacity: header.max_capacity().map(living_of),
            doublings: header.max_capacity().map(|_| Doublings { halves: parameters.half_doublings() }),
            key_count,
            journal_change_count: journal.changes().len() as u64,
            has_incomplete_changes: journal.is_cut_off(),
            expiry: expiry.as_ref().map(|&Expiry { lifetime, resolution, time, .. }| ExpiryReport {
                lifetime,
                resolution,
                time,
                now: filter.map(ExpiringCuckooFilter::time),
                living_count: filter.map(|_| key_count),
                dead_count: filter.map(|_| header.len() - key_count),
            }),
            load_factor: load_factor(filter.map_or(key_count, |_| header.len())),
            expected_false_positive_rate: parameters.expected_false_positive_rate(key_count),
            expected_false_positive_rate_at_capacity: parameters.expected_false_positive_rate(capacity),
            bits_per_key: (key_count > 0).then(|| bits_per_key(load_factor(key_count))),
            bits_per_key_at_capacity: match expiry {
                None => parameters.bits_per_key(),
                Some(_) => bits_per_key(load_factor(capacity)),
            },
            provenance: provenance.clone(),
        }
    }
}

/// The load factor with this number of fingerprints.
#[expect(clippy::cast_precision_loss, reason = "shown with a few digits")]
const fn load_factor(count: u64, slot_count: u64) -> f64 {
    count as f64 / slot_count as f64
}

/// More bits per key than this are not shown to people.
const MOST_BITS_SHOWN: f64 = 1000.0;

impl Report for FilterReport {
    fn text(&self) -> String {
        let mut fingerprint = text::counted(u64::from(self.fingerprint_bits), "bit");
        if self.bits_per_slot != self.fingerprint_bits {
            fingerprint += &format!(", kept in {}", self.bits_per_slot);
        }
        let mut rows = Vec::new();
        rows.extend(self.file_size_in_bytes.map(|size| ("file size", text::counted(size, "byte"))));
        rows.extend([
            ("kind", self.kind.to_owned()),
            ("layout", self.layout.clone()),
            ("addressing", self.addressing.clone()),
            ("hash", self.hash.to_owned()),
        ]);
        rows.extend(self.seed.map(|seed| ("seed", seed.to_string())));
        rows.extend(self.secret_key.map(|key| ("secret key", key.to_owned())));
        rows.push(("fingerprint", fingerprint));
        rows.extend(self.value_bits.map(|bits| ("value", text::counted(u64::from(bits), "bit"))));
        rows.extend([
            ("slots per bucket", self.slots_per_bucket.to_string()),
            ("candidate buckets", self.candidates.to_string()),
            ("regions", text::count(self.region_count)),
            ("buckets", text::count(self.bucket_count)),
            ("slots", text::count(self.slot_count)),
            ("table size", text::counted(self.table_size_in_bytes, "byte")),
            ("capacity", text::counted(self.capacity, "key")),
        ]);
        rows.extend(self.max_capacity.map(|keys| ("rate promised up to", text::counted(keys, "key"))));
        rows.extend(self.doublings.map(|doublings| ("doublings", doublings.to_string())));
        match &self.expiry {
            None => rows.push(("keys stored", text::count(self.key_count))),
            Some(expiry) => rows.extend(expiry.rows(self.provenance.time_source)),
        }
        let changes = text::counted(self.journal_change_count, "change");
        match (self.journal_change_count, self.has_incomplete_changes) {
            (0, false) => {}
            (_, false) => rows.push(("in the journal", changes)),
            (_, true) => {
                rows.push(("in the journal", format!("{changes}, and some that were not written to their end")));
            }
        }
        rows.push(("load factor", text::percent(self.load_factor)));
        rows.extend(self.provenance.rate.map(|rate| ("rate asked for", text::rate(rate))));
        rows.extend([
            ("false positive rate now", text::rate(self.expected_false_positive_rate)),
            ("false positive rate at capacity", text::rate(self.expected_false_positive_rate_at_capacity)),
        ]);
        // Of a nearly empty table it says how empty that is, which the load factor says better.
        let bits_per_key = self.bits_per_key.filter(|&bits| bits < MOST_BITS_SHOWN);
        rows.extend(bits_per_key.map(|bits| ("bits per key now", text::bits(bits))));
        rows.push(("bits per key at capacity", text::bits(self.bits_per_key_at_capacity)));
        let Provenance { normalization, note, sources, key_count, .. } = &self.provenance;
        let treatment = match (normalization.lowercase, normalization.trim) {
            (true, true) => Some("in lower case, without blanks at the ends"),
            (true, false) => Some("in lower case"),
            (false, true) => Some("without blanks at the ends"),
            (false, false) => None,
        };
        rows.extend(treatment.map(|treatment| ("keys are hashed", treatment.to_owned())));
        rows.extend(self.provenance.date().map(|date| ("built", date)));
        rows.extend(key_count.map(|keys| ("built from", text::counted(keys, "key"))));
        rows.extend(sources.iter().map(|source| ("source", escaped(source).into_owned())));
        rows.extend(note.iter().map(|note| ("note", escaped(note).into_owned())));
        text::table(&rows)
    }
}

impl ExpiryReport {
    fn rows(&self, source: Option<TimeSource>) -> Vec<(&'static str, String)> {
        // The unit of other programs is not known.
        let duration = |time| if source.is_some() { time::duration(time) } else { text::count(time) };
        let date = |time| if source.is_some() { time::shown(time) } else { text::count(time) };
        let origin = match source {
            Some(TimeSource::Clock) => ", of the clock",
            Some(TimeSource::Data) => ", of the keys",
            None => "",
        };
        let mut rows = vec![
            ("keys live for", duration(self.lifetime)),
            ("and at most longer by", duration(self.resolution)),
            ("time in the file", format!("{}{origin}", date(self.time))),
        ];
        rows.extend(self.now.filter(|&now| now != self.time).map(|now| ("time now", date(now))));
        rows.extend(self.living_count.map(|keys| ("keys alive", text::count(keys))));
        rows.extend(self.dead_count.map(|keys| ("dead fingerprints", text::count(keys))));
        rows
    }
}
