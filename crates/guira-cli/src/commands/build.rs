use guira::{BuildError, CuckooFilter, InsertError, KeyHasher};
use indicatif::HumanCount;

use crate::arguments::BuildArguments;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, report};
use crate::filter_file::Replacement;
use crate::keys::{DigestCollector, DistinctDigests, Inputs};
use crate::progress::Progress;
use crate::render::text::counted;

const DEFAULT_RATE: f64 = 0.001;

pub(crate) fn run(arguments: &BuildArguments) -> Result<ExitStatus, Failure> {
    let explain = |error: BuildError| Failure::of_file(&arguments.output, error);
    let mut builder = CuckooFilter::builder().seed(arguments.seed);
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
    let replacement = Replacement::of_any(&arguments.output)?;

    let digests = distinct_digests(&Inputs::named(&arguments.inputs.inputs), &KeyHasher::xxh3(arguments.seed))?;
    let capacity = arguments.capacity.unwrap_or(digests.len().max(1));
    let mut filter = builder.capacity(capacity).build().map_err(explain)?;
    fill(&mut filter, &digests).map_err(|reason| unfinished(arguments, &filter, &digests, &reason))?;
    replacement.commit(&filter)?;

    let file = arguments.output.display();
    if digests.len() == 0 && arguments.capacity.is_none() {
        report(format_args!("{file}: no keys in the input: an empty filter with a capacity of 1 key"));
    } else {
        let (keys, repeated) = (counted(digests.len() as u64, "key"), counted(digests.repeated(), "repeated line"));
        report(format_args!("{file}: {keys}, {repeated} left out"));
    }
    Ok(ExitStatus::Success)
}

fn distinct_digests(inputs: &Inputs, hasher: &KeyHasher) -> Result<DistinctDigests, Failure> {
    let mut collector = DigestCollector::new();
    inputs.for_each_key(|key| collector.push(hasher.digest_bytes(key)))?;
    Ok(collector.finish())
}

fn fill(filter: &mut CuckooFilter, digests: &DistinctDigests) -> Result<(), InsertError> {
    let progress = Progress::of_keys(digests.len());
    if digests.len() <= filter.capacity() {
        for step in digests.in_steps() {
            filter.insert_bulk_digests(&step).map_err(|error| error.reason)?;
            progress.advance(step.len());
        }
    } else {
        // They may not fit. In bulk, a search for room would fail for each of those that don't.
        for step in digests.in_even_steps() {
            filter.insert_each_digest(&step).map_err(|error| error.reason)?;
            progress.advance(step.len());
        }
    }
    Ok(())
}

fn unfinished(
    arguments: &BuildArguments,
    filter: &CuckooFilter,
    digests: &DistinctDigests,
    reason: &InsertError,
) -> Failure {
    let (added, all) = (HumanCount(filter.len() as u64), counted(digests.len() as u64, "key"));
    let advice = match (reason, arguments.capacity) {
        (InsertError::TooManyCopies { .. }, _) => {
            "too many keys share fingerprint and buckets: give more --fingerprint-bits, a lower --rate or another --seed"
        }
        (_, Some(_)) => "the filter is full: give a larger --capacity, or leave it out",
        (_, None) => "the filter is full, against all odds: give another --seed",
    };
    Failure::of_file(&arguments.output, format_args!("{added} of {all} were added, then {advice}; no file was written"))
}
