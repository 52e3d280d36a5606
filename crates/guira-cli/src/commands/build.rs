use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use guira::{
    BuildError, CuckooFilter, Digest, ExpiringCuckooFilter, FilterBuilder, GrowthPolicy, InsertError, KeyHasher,
};
use indicatif::HumanCount;
use serde::Serialize;

use super::growing::{Growing, MIN_BITS_TO_GROW, is_worth_growing};
use super::warnings::{WithoutKey, warn_of_empty_keys, warn_of_excess, warn_of_missing_keys, without_key};
use crate::arguments::{BuildArguments, HashName};
use crate::exit_status::ExitStatus;
use crate::failure::{self, Failure};
use crate::filter::Filter;
use crate::filter_bytes;
use crate::filter_file::{self, Existing, Replaced};
use crate::filter_output::{self, FilterOutput};
use crate::keys::{
    DigestCollector, DistinctDigests, EmptyCounts, Examples, Input, Inputs, KeyForm, KeyList, KeyPart, Normalization,
};
use crate::progress::Progress;
use crate::provenance::{self, Provenance, TimeSource};
use crate::render::text::{self, counted};
use crate::render::{Report, tell};
use crate::secret_key::{SecretKey, hasher};
use crate::stored_filter::{Growth, StoredFilter};
use crate::threads;
use crate::time;

const DEFAULT_RATE: f64 = 0.001;

pub(crate) fn run(arguments: &BuildArguments) -> Result<ExitStatus, Failure> {
    threads::choose(arguments.threads.count)?;
    arguments.inputs.refuse_contradictions()?;
    let blueprint = Blueprint::new(arguments)?;
    let normalization = blueprint.normalization(arguments)?;
    let inputs = arguments.inputs.inputs(normalization, arguments.quiet.quiet);
    inputs.refuse_filters()?;
    inputs.refuse_as_output(&arguments.output)?;
    arguments.key.refuse_as_output(&arguments.output)?;
    let existing = match (arguments.force, &arguments.like) {
        (false, _) => Existing::Refused,
        (true, None) => Existing::Replaced,
        // The output may be the `--like` filter itself.
        (true, Some(_)) => Existing::LockedAndReplaced,
    };
    let output = FilterOutput::new(&arguments.output, existing, arguments.json, arguments.wait.with(arguments.quiet))?;

    let Construction { filter, digests, seeds_tried } = match &arguments.never {
        None => build(arguments, &blueprint, &inputs, arguments.seed)?,
        Some(never) => {
            let never = never_keys(never, arguments, normalization)?;
            build_without(arguments, &blueprint, &inputs, &never)?
        }
    };
    if digests.len() == 0 {
        refuse_lines_without_keys(arguments, &inputs, digests.empty_counts())?;
        if arguments.output.as_os_str() != "-" {
            refuse_to_empty(&arguments.output)?;
        }
    }
    let filter = output.filter(filter, blueprint.provenance(arguments, normalization, &inputs, &digests));
    let replaced = output.commit(&filter)?;

    let built = Built {
        file: filter_output::name(&arguments.output),
        key_count: digests.len() as u64,
        repeated_count: digests.repeated(),
        without_key_count: digests.empty_counts().without_key,
        capacity: filter.filter.capacity() as u64,
        seeds_tried,
        is_capacity_given: arguments.capacity.is_some() || arguments.like.is_some(),
        replaced_key_count: replaced.and_then(|replaced| replaced.key_count),
        replaced,
    };
    tell(&built, arguments.json, arguments.quiet)?;
    warn_of_missing_keys(&arguments.inputs, &inputs, digests.empty_counts().without_key, WithoutKey::LeftOut);
    warn_of_empty_keys(digests.empty_counts().empty);
    warn_of_excess(&arguments.output, &filter);
    if arguments.like.is_none() {
        warn_of_cost(arguments, &filter);
    }
    Ok(ExitStatus::Success)
}

/// Warns of a table that takes far more than its rate does elsewhere: its fingerprints are as long as they can be, and the table
/// is made larger instead, or they get bits for growth that the rate would not need.
#[expect(clippy::cast_precision_loss, reason = "a threshold, and shown with a few digits")]
fn warn_of_cost(arguments: &BuildArguments, filter: &StoredFilter) {
    /// That of a few keys is within a page or two, which nobody misses.
    const MIN_TABLE_SIZE: u64 = 1 << 16;
    const MAX_FACTOR: f64 = 2.0;

    let (Some(rate), parameters) = (filter.provenance.rate, filter.filter.parameters()) else { return };
    if parameters.table_size() < MIN_TABLE_SIZE {
        return;
    }
    // What buckets of four slots take, of which 95 % are filled: 2b fingerprints are compared.
    let usual = ((1.0 / rate).log2() + 3.0).max(2.0) / 0.95;
    let taken = 8.0 * parameters.table_size() as f64 / filter.filter.capacity() as f64;
    if taken <= MAX_FACTOR * usual {
        return;
    }
    let why = if filter.grows() && arguments.max_capacity.is_some() {
        "that is the price of --max-capacity at this rate: fingerprints get bits for growth, or the table more slots where they \
         can't be longer"
    } else {
        "fingerprints can't be long enough for this rate, so the table has more slots instead; a higher rate costs less"
    };
    failure::report(format_args!(
        "warning: {}: takes {} bits per key at its capacity, where {} are usual for its rate: {why}",
        filter_output::name(&arguments.output),
        text::bits(taken),
        text::bits(usual),
    ));
}

/// Refuses to take no line at all: the field is misspelt, rather than missing everywhere.
fn refuse_lines_without_keys(
    arguments: &BuildArguments,
    inputs: &Inputs,
    empty_counts: EmptyCounts,
) -> Result<(), Failure> {
    if arguments.inputs.fields().is_some()
        && let Some(lines) = without_key(&arguments.inputs, inputs, empty_counts.without_key)
    {
        let text = format_args!("no keys, only {lines}: give a field that is there; no file was written");
        return Err(Failure::of(filter_output::name(&arguments.output), text));
    }
    Ok(())
}

/// Refuses to replace a filter that holds keys when there were none to read: a list that was not made, or a field that is not
/// there, is likelier than the wish to empty it.
fn refuse_to_empty(output: &Path) -> Result<(), Failure> {
    match File::open(output).ok().and_then(filter_file::key_count) {
        Some(keys) if keys > 0 => {
            let keys = counted(keys, "key");
            let text = format_args!(
                "no keys in the input, and this filter holds {keys}: remove it first to make an empty one"
            );
            Err(Failure::of_file(output, text))
        }
        _ => Ok(()),
    }
}

/// A filter that was built.
struct Construction {
    filter: Filter,
    digests: DistinctDigests,
    /// With `--never`, how many seeds it took.
    seeds_tried: Option<u64>,
}

fn build(
    arguments: &BuildArguments,
    blueprint: &Blueprint,
    inputs: &Inputs,
    seed: u64,
) -> Result<Construction, Failure> {
    let digests = distinct_digests(inputs, blueprint.hasher(seed))?;
    let mut filter = StoredFilter::in_memory(blueprint.empty_filter(arguments, seed, digests.len())?);
    fill(&mut filter, &digests, blueprint.growth(arguments))
        .map_err(|reason| unfinished(arguments, &filter, &digests, &reason))?;
    Ok(Construction { filter: filter.filter, digests, seeds_tried: None })
}

/// Tries seeds until the filter finds none of the `--never` keys.
fn build_without(
    arguments: &BuildArguments,
    blueprint: &Blueprint,
    inputs: &Inputs,
    never: &KeyList,
) -> Result<Construction, Failure> {
    /// If more tries than this are expected, the build is refused.
    const MAX_EXPECTED_TRIES: f64 = 1000.0;
    /// With a chance of at least 1 in 1000 per seed, this many fail with probability e^-10.
    const MAX_TRIES: u64 = 10_000;

    if !inputs.can_be_read_again() {
        return Err(Failure::new(
            "with --never the inputs are read once for each seed that is tried: give files, and not standard input or a pipe",
        ));
    }
    for tries in 1..=MAX_TRIES {
        let seed = arguments.seed.wrapping_add(tries - 1);
        let mut construction = build(arguments, blueprint, inputs, seed)?;
        let filter = &construction.filter;
        let hasher = blueprint.hasher(seed);
        let digests: Vec<Digest> = never.iter().map(|key| hasher.digest(key)).collect();
        if tries == 1 {
            let given: HashSet<u64> = construction.digests.in_steps().flatten().map(Digest::get).collect();
            let mut both = Examples::default();
            never
                .iter()
                .zip(&digests)
                .filter(|(_, digest)| given.contains(&digest.get()))
                .for_each(|(key, _)| both.add(key));
            if both.count() > 0 {
                let keys = counted(both.count(), "key");
                let stand = if both.count() == 1 { "stands" } else { "stand" };
                let text = format_args!("{keys} {stand} both in the inputs and in the list of --never: {both}");
                return Err(Failure::of(filter_output::name(&arguments.output), text));
            }
            let rate = filter.expected_false_positive_rate();
            let never_count = never.len();
            if (-rate).ln_1p() * approximate(never_count) < -MAX_EXPECTED_TRIES.ln() {
                return Err(Failure::new(format_args!(
                    "of {} at a rate of {}, hardly any seed spares all: give a --rate of {:.1e} or less",
                    counted(never_count as u64, "key"),
                    text::rate(rate),
                    1.0 / approximate(never_count)
                )));
            }
        }
        let mut answers = vec![false; digests.len()];
        filter.contains_many_into(&digests, &mut answers);
        if !answers.contains(&true) {
            construction.seeds_tried = Some(tries);
            return Ok(construction);
        }
    }
    Err(Failure::new(format_args!(
        "{MAX_TRIES} seeds were tried, and none spares all keys of --never: give a lower --rate"
    )))
}

/// The keys of `--never`, which the filter must not find.
fn never_keys(path: &Path, arguments: &BuildArguments, normalization: Normalization) -> Result<KeyList, Failure> {
    let form = KeyForm { end: arguments.inputs.form().end, part: KeyPart::Whole };
    let inputs = Inputs::new(&[], &[path.to_owned()], &form, None, normalization, arguments.quiet.quiet);
    let inputs = inputs.with_empty_keys(arguments.inputs.empty_keys());
    inputs.refuse_filters()?;
    inputs.refuse_as_output(&arguments.output)?;
    let mut keys = KeyList::default();
    inputs.for_each_batch(|batch| {
        batch.iter().for_each(|key| keys.push(key));
        Ok(())
    })?;
    Ok(keys)
}

#[expect(clippy::cast_precision_loss, reason = "for a probability")]
const fn approximate(count: usize) -> f64 {
    count as f64
}

/// What was done. The field names are those of the JSON output and must not change.
#[derive(Debug, Serialize)]
struct Built {
    file: String,
    key_count: u64,
    repeated_count: u64,
    without_key_count: u64,
    capacity: u64,
    /// With `--never`, how many seeds were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    seeds_tried: Option<u64>,
    #[serde(skip)]
    is_capacity_given: bool,
    /// The keys of a filter that was replaced.
    replaced_key_count: Option<u64>,
    #[serde(skip)]
    replaced: Option<Replaced>,
}

impl Report for Built {
    fn text(&self) -> String {
        let (file, replaced) = (&self.file, Replaced::text(self.replaced));
        if self.key_count == 0 && !self.is_capacity_given {
            let capacity = counted(self.capacity, "key");
            return format!("{file}: no keys in the input: an empty filter with a capacity of {capacity}{replaced}");
        }
        let (keys, repeated) = (counted(self.key_count, "key"), counted(self.repeated_count, "repeated line"));
        let tried = self.seeds_tried.map(|tries| format!(", {} tried", counted(tries, "seed"))).unwrap_or_default();
        format!("{file}: {keys}, {repeated} left out{tried}{replaced}")
    }
}

/// The parameters of a filter, known before its keys are read.
enum Blueprint {
    /// From the options.
    Options { builder: FilterBuilder, key: Option<SecretKey> },
    /// From the options, for keys that expire.
    Expiring { builder: FilterBuilder<ExpiringCuckooFilter>, key: Option<SecretKey> },
    /// From the filter file at `path`.
    Like { path: PathBuf, key: Option<SecretKey>, hasher: KeyHasher, provenance: Provenance },
}

impl Blueprint {
    /// Refuses what it can before any key is read.
    fn new(arguments: &BuildArguments) -> Result<Self, Failure> {
        if let Some(path) = &arguments.like {
            let can_be_read_again = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
            if filter_bytes::is_standard_input(path) || path.exists() && !can_be_read_again {
                let text = "is read twice, to know the hash of keys and to make the filter: give --like a file";
                return Err(Failure::of(filter_bytes::name(path), text));
            }
            let key = SecretKey::read_if_given(arguments.key.file.as_deref())?;
            let like = filter_file::load(path, key)?;
            let hasher = *like.filter.hasher();
            return Ok(Self::Like { path: path.clone(), key, hasher, provenance: like.provenance });
        }
        growth_of(arguments).refuse_contradictions(arguments.prefer)?;
        let key = secret_key(arguments)?;
        if let Some(lifetime) = arguments.lifetime {
            let builder = ExpiringCuckooFilter::builder()
                .false_positive_rate(arguments.rate.unwrap_or(DEFAULT_RATE))
                .lifetime(lifetime)
                .start_time(arguments.now.or_clock()?);
            let builder = builder.resolution(arguments.resolution.unwrap_or_else(|| time::usual_resolution(lifetime)));
            let parameters = builder.clone().capacity(arguments.capacity.unwrap_or(1)).parameters();
            parameters.map_err(|error| refused(arguments, &error))?;
            return Ok(Self::Expiring { builder, key });
        }
        arguments.now.refuse_for_lasting(&arguments.output)?;
        let mut builder = CuckooFilter::builder().hasher(hasher(key, arguments.seed));
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
        let parameters = builder.clone().capacity(arguments.capacity.unwrap_or(1)).parameters();
        parameters.map_err(|error| refused(arguments, &error))?;
        Ok(Self::Options { builder, key })
    }

    fn hasher(&self, seed: u64) -> KeyHasher {
        match self {
            Self::Options { key, .. } | Self::Expiring { key, .. } => hasher(*key, seed),
            Self::Like { hasher, .. } => *hasher,
        }
    }

    fn empty_filter(&self, arguments: &BuildArguments, seed: u64, keys: usize) -> Result<Filter, Failure> {
        let capacity = arguments.capacity.unwrap_or(keys.max(1));
        if let (Some(largest), Some(_)) = (arguments.max_capacity, arguments.capacity)
            && keys > largest
        {
            let text = format_args!(
                "{} are more than --max-capacity, {}: give a larger one; no file was written",
                counted(keys as u64, "key"),
                text::count(largest as u64)
            );
            return Err(Failure::of(filter_output::name(&arguments.output), text));
        }
        match self {
            Self::Options { builder, key } => {
                let hasher = hasher(*key, seed);
                let builder = builder.clone().hasher(hasher).capacity(capacity);
                let filter = empty_filter(arguments, builder, capacity);
                filter.map(Filter::from).map_err(|error| refused(arguments, &error))
            }
            Self::Expiring { builder, key } => {
                if keys > capacity.max(arguments.max_capacity.unwrap_or(0)) {
                    let text = format_args!(
                        "{} do not fit the capacity of {}: give a larger --capacity, or leave it out; no file was written",
                        counted(keys as u64, "key"),
                        text::count(capacity as u64)
                    );
                    return Err(Failure::of(filter_output::name(&arguments.output), text));
                }
                let builder = builder.clone().hasher(hasher(*key, seed)).capacity(capacity);
                let filter = empty_expiring_filter(arguments, builder, capacity);
                filter.map(Filter::from).map_err(|error| refused(arguments, &error))
            }
            Self::Like { path, key, hasher, .. } => {
                let mut filter = filter_file::load(path, *key)?;
                // The keys were hashed with the hasher that the file had when it was first read.
                if filter.filter.hasher() != hasher {
                    let text = "was replaced by another program in the meantime: run the command again";
                    return Err(Failure::of_file(path, text));
                }
                filter.filter.clear();
                arguments.now.bring(path, &mut filter)?;
                Ok(filter.filter)
            }
        }
    }

    /// What is done to keys before they are hashed.
    fn normalization(&self, arguments: &BuildArguments) -> Result<Normalization, Failure> {
        let given = Normalization { lowercase: arguments.lowercase, trim: arguments.trim };
        match self {
            Self::Like { provenance, .. } if given.is_none() => Ok(provenance.normalization),
            Self::Like { path, provenance, .. } if provenance.normalization != given => {
                let text = "built with other choices of --lowercase and --trim: leave them out, and they are as there";
                Err(Failure::of_file(path, text))
            }
            _ => Ok(given),
        }
    }

    /// The notes to write into the file. Inputs and date are only for files with `--note`: the bytes of others depend on
    /// nothing but options and keys.
    fn provenance(
        &self,
        arguments: &BuildArguments,
        normalization: Normalization,
        inputs: &Inputs,
        digests: &DistinctDigests,
    ) -> Provenance {
        let default_rate = arguments.rate.unwrap_or(DEFAULT_RATE);
        let (rate, time_source) = match self {
            Self::Like { provenance, .. } => (provenance.rate, provenance.time_source),
            Self::Options { .. } if arguments.fingerprint_bits.is_some() => (None, None),
            Self::Options { .. } => (Some(default_rate), None),
            Self::Expiring { .. } => (Some(default_rate), Some(TimeSource::Clock)),
        };
        let provenance = Provenance { rate, normalization, time_source, ..Provenance::default() };
        let Some(note) = &arguments.note else { return provenance };
        Provenance {
            note: Some(note.clone()),
            created: provenance::now(),
            sources: inputs.iter().map(Input::name).collect(),
            key_count: Some(digests.len() as u64),
            ..provenance
        }
    }

    /// With `--like`, the filter grows as the other one does, and with `--max-capacity` up to that.
    const fn growth(&self, arguments: &BuildArguments) -> Growth {
        match self {
            Self::Options { .. } | Self::Expiring { .. } if arguments.max_capacity.is_none() => Growth::Refused,
            _ => Growth::Allowed,
        }
    }
}

fn refused(arguments: &BuildArguments, error: &BuildError) -> Failure {
    Failure::of_parameters(error).about(filter_output::name(&arguments.output))
}

/// An empty filter. It grows if the options leave the shape to this program and the chosen shape can grow.
fn empty_filter(
    arguments: &BuildArguments,
    builder: FilterBuilder,
    capacity: usize,
) -> Result<CuckooFilter, BuildError> {
    let is_free = arguments.layout.is_none() && arguments.slots_per_bucket.is_none();
    if !is_free || arguments.fingerprint_bits.is_some() {
        return builder.build();
    }
    growth_of(arguments).chosen(&builder, capacity)?.unwrap_or(builder).build()
}

const fn growth_of(arguments: &BuildArguments) -> Growing {
    Growing { capacity: arguments.capacity, max_capacity: arguments.max_capacity }
}

/// An empty filter for keys that expire. It grows if its rate leaves a bit for that.
fn empty_expiring_filter(
    arguments: &BuildArguments,
    builder: FilterBuilder<ExpiringCuckooFilter>,
    capacity: usize,
) -> Result<ExpiringCuckooFilter, BuildError> {
    let planned = builder.parameters()?;
    // Buckets of fewer slots don't grow.
    let slots = planned.slots_per_bucket().max(4);
    let parameters = builder.clone().slots_per_bucket(slots).parameters().unwrap_or(planned);
    let growing = builder
        .clone()
        .max_capacity(growth_of(arguments).max_capacity(capacity, parameters.fingerprint_bits()))
        .growth_policy(GrowthPolicy::RaiseRate);
    let is_long = parameters.fingerprint_bits() >= MIN_BITS_TO_GROW;
    if arguments.max_capacity.is_none() && !(is_long && is_worth_growing(&parameters, growing.parameters())) {
        return builder.build();
    }
    growing.build()
}

/// The secret key, if the chosen hash has one.
fn secret_key(arguments: &BuildArguments) -> Result<Option<SecretKey>, Failure> {
    match (arguments.hash, SecretKey::read_if_given(arguments.key.file.as_deref())?) {
        (Some(HashName::SipHash), Some(key)) => Ok(Some(key)),
        // Whoever gives a key wants a hash that uses it.
        (_, Some(_)) => Err(Failure::new("--key-file is for filters that are built with --hash siphash")),
        // SipHash without a key is refused by the command line.
        (_, None) => Ok(None),
    }
}

fn distinct_digests(inputs: &Inputs, hasher: KeyHasher) -> Result<DistinctDigests, Failure> {
    let mut collector = DigestCollector::new(hasher);
    inputs.for_all_blocks(|block| {
        collector.take(block);
        Ok(())
    })?;
    Ok(collector.finish())
}

fn fill(filter: &mut StoredFilter, digests: &DistinctDigests, growth: Growth) -> Result<(), InsertError> {
    let progress = Progress::of_keys(digests.len());
    if digests.len() <= filter.filter.capacity() {
        for step in digests.in_steps() {
            filter.filter.insert_many(&step).map_err(|error| error.reason)?;
            progress.advance(step.len());
        }
    } else {
        // They may not fit. A bulk insertion would search in vain for each key that does not.
        for step in digests.in_even_steps() {
            filter.insert_each(&step, growth).map_err(|error| error.reason)?;
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
    let (added, all) = (HumanCount(filter.filter.len() as u64), counted(digests.len() as u64, "key"));
    let advice = match (reason, arguments.capacity) {
        (InsertError::TooManyCopies { .. }, _) => {
            "too many keys share fingerprint and buckets: give more --fingerprint-bits, a lower --rate or another --seed"
        }
        _ if arguments.like.is_some() => {
            "the filter is full: as many as the one of --like grows to hold; leave out --like to make one for all keys"
        }
        (_, Some(_)) => "the filter is full: give a larger --capacity, or leave it out",
        (_, None) => "the filter is full, against all odds: give another --seed",
    };
    Failure::of(
        filter_output::name(&arguments.output),
        format_args!("{added} of {all} were added, then {advice}; no file was written"),
    )
}
