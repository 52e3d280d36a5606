use guira::{
    BeyondPromise, BuildError, CuckooFilter, CuckooFilterBuilder, GrowingCuckooFilter, HashAlgorithm, InsertError,
    KeyHasher, Layout,
};
use indicatif::HumanCount;
use serde::Serialize;

use super::warnings::{WithoutKey, warn_of_excess, warn_of_missing_fields};
use crate::arguments::{BuildArguments, HashName, Prefer};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::filter_file::{Existing, Replacement};
use crate::keys::{DigestCollector, DistinctDigests, Inputs};
use crate::progress::Progress;
use crate::render::text::counted;
use crate::render::{Report, tell};
use crate::secret_key::SecretKey;
use crate::stored_filter::{Growth, StoredFilter};
use crate::threads;

const DEFAULT_RATE: f64 = 0.001;

pub(crate) fn run(arguments: &BuildArguments) -> Result<ExitStatus, Failure> {
    threads::choose(arguments.threads.count)?;
    arguments.inputs.refuse_contradictions()?;
    let inputs = arguments.inputs.inputs(arguments.quiet.quiet);
    inputs.refuse_filters()?;
    refuse_vain_growth(arguments)?;
    let explain = |error: BuildError| Failure::of_file(&arguments.output, error);
    let algorithm = hash_algorithm(arguments)?;
    let mut builder = CuckooFilter::builder().seed(arguments.seed).hash(algorithm);
    builder = match arguments.fingerprint_bits {
        Some(bits) => builder.fingerprint_bits(bits),
        None => builder.false_positive_rate(arguments.rate.unwrap_or(DEFAULT_RATE)),
    };
    builder = builder.preference(arguments.prefer.into());
    if let Some(layout) = arguments.layout {
        builder = builder.layout(layout.into());
    }
    if let Some(slots) = arguments.slots_per_bucket {
        builder = builder.slots_per_bucket(slots);
    }
    // What can be refused without the keys is refused before they are read.
    builder.clone().capacity(arguments.capacity.unwrap_or(1)).parameters().map_err(explain)?;
    let existing = if arguments.force { Existing::Replaced } else { Existing::Refused };
    let replacement = Replacement::of_output(&arguments.output, existing)?;

    let hasher = match algorithm {
        HashAlgorithm::SipHash13 { key } => KeyHasher::sip_hash_13(key),
        _ => KeyHasher::xxh3(arguments.seed),
    };
    let digests = distinct_digests(&inputs, hasher)?;
    let capacity = arguments.capacity.unwrap_or(digests.len().max(1));
    let mut filter = empty_filter(arguments, builder.capacity(capacity), capacity, algorithm).map_err(explain)?;
    fill(&mut filter, &digests).map_err(|reason| unfinished(arguments, &filter, &digests, &reason))?;
    replacement.commit(&filter)?;

    let built = Built {
        file: arguments.output.display().to_string(),
        key_count: digests.len() as u64,
        repeated_count: digests.repeated(),
        without_key_count: digests.without_key(),
        capacity: filter.as_filter().capacity() as u64,
        is_capacity_given: arguments.capacity.is_some(),
    };
    tell(&built, arguments.json, arguments.quiet)?;
    warn_of_missing_fields(&arguments.inputs, digests.without_key(), WithoutKey::LeftOut);
    warn_of_excess(&arguments.output, &filter);
    Ok(ExitStatus::Success)
}

/// What was done. The names of the fields are those of the JSON output, and stay.
#[derive(Debug, Serialize)]
struct Built {
    file: String,
    key_count: u64,
    repeated_count: u64,
    without_key_count: u64,
    capacity: u64,
    #[serde(skip)]
    is_capacity_given: bool,
}

impl Report for Built {
    fn text(&self) -> String {
        let file = &self.file;
        if self.key_count == 0 && !self.is_capacity_given {
            return format!("{file}: no keys in the input: an empty filter with a capacity of 1 key");
        }
        let (keys, repeated) = (counted(self.key_count, "key"), counted(self.repeated_count, "repeated line"));
        format!("{file}: {keys}, {repeated} left out")
    }
}

/// A filter that grows, where the choice is left to this program and what it chooses can grow; else one that does not.
fn empty_filter(
    arguments: &BuildArguments,
    builder: CuckooFilterBuilder,
    capacity: usize,
    hash: HashAlgorithm,
) -> Result<StoredFilter, BuildError> {
    let parameters = builder.parameters()?;
    let is_free = arguments.layout.is_none() && arguments.slots_per_bucket.is_none();
    let is_long = parameters.fingerprint_bits() >= LEAST_BITS_TO_GROW || arguments.max_capacity.is_some();
    let can_grow = parameters.layout() == Layout::Packed && is_long;
    if !is_free || !can_grow || arguments.fingerprint_bits.is_some() {
        return builder.build().map(StoredFilter::Fixed);
    }
    let growing = GrowingCuckooFilter::builder()
        .capacity(capacity)
        .largest_capacity(arguments.max_capacity.unwrap_or(capacity).max(capacity))
        .false_positive_rate(arguments.rate.unwrap_or(DEFAULT_RATE))
        .slots_per_bucket(parameters.slots_per_bucket())
        .beyond_promise(BeyondPromise::RaiseRate)
        .hash(hash)
        .seed(arguments.seed);
    growing.build().map(StoredFilter::Growing)
}

/// Shorter fingerprints have no bits to give away; they get some where growth is asked for.
const LEAST_BITS_TO_GROW: u32 = 8;

/// Refuses to promise what the filter would not do.
fn refuse_vain_growth(arguments: &BuildArguments) -> Result<(), Failure> {
    match (arguments.max_capacity, arguments.capacity) {
        (Some(_), _) if arguments.prefer == Prefer::Space => {
            Err(Failure::new("what takes the least memory does not grow: leave out --prefer space, or --max-capacity"))
        }
        (Some(largest), Some(capacity)) if largest < capacity => {
            Err(Failure::new(format_args!("--max-capacity is {largest}, which is below --capacity, {capacity}")))
        }
        _ => Ok(()),
    }
}

fn hash_algorithm(arguments: &BuildArguments) -> Result<HashAlgorithm, Failure> {
    match (arguments.hash, SecretKey::read_if_given(arguments.key.file.as_deref())?) {
        (Some(HashName::SipHash), Some(key)) => Ok(HashAlgorithm::SipHash13 { key: key.bytes() }),
        // Who gives a key wants a hash that uses it.
        (_, Some(_)) => Err(Failure::new("--key-file is for filters that are built with --hash siphash")),
        // The command line is refused where SipHash has no key.
        (_, None) => Ok(HashAlgorithm::Xxh3),
    }
}

fn distinct_digests(inputs: &Inputs, hasher: KeyHasher) -> Result<DistinctDigests, Failure> {
    let mut collector = DigestCollector::new(hasher);
    inputs.for_all_blocks(|block| collector.take(block))?;
    Ok(collector.finish())
}

fn fill(filter: &mut StoredFilter, digests: &DistinctDigests) -> Result<(), InsertError> {
    let progress = Progress::of_keys(digests.len());
    if digests.len() <= filter.as_filter().capacity() {
        for step in digests.in_steps() {
            filter.insert_bulk(&step)?;
            progress.advance(step.len());
        }
    } else {
        // They may not fit. In bulk, a search for room would fail for each of those that don't.
        for step in digests.in_even_steps() {
            filter.insert_each(&step, Growth::Refused).map_err(|error| error.reason)?;
            progress.advance(step.len());
        }
    }
    Ok(())
}

fn unfinished(
    arguments: &BuildArguments,
    filter: &StoredFilter,
    digests: &DistinctDigests,
    reason: &InsertError,
) -> Failure {
    let (added, all) = (HumanCount(filter.as_filter().len() as u64), counted(digests.len() as u64, "key"));
    let advice = match (reason, arguments.capacity) {
        (InsertError::TooManyCopies { .. }, _) => {
            "too many keys share fingerprint and buckets: give more --fingerprint-bits, a lower --rate or another --seed"
        }
        (_, Some(_)) => "the filter is full: give a larger --capacity, or leave it out",
        (_, None) => "the filter is full, against all odds: give another --seed",
    };
    Failure::of_file(&arguments.output, format_args!("{added} of {all} were added, then {advice}; no file was written"))
}
