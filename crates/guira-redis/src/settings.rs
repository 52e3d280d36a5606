//! The operator's settings, and the parameters of new filters that follow from them.

use guira::raw::{FilterPlan, PlannedFilter};
use guira::{CuckooFilter, ExpiringCuckooFilter, FilterBuilder, GrowthPolicy, KeyHasher, Parameters};

use crate::c_text::CText;
use crate::cast::in_memory;
use crate::command::Creation;
use crate::error::CommandError;
use crate::memo::Memo;
use crate::secret::SecretKey;

/// The parameters of new filters, unless the command that creates them gives others.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many distinct items fit before the first doubling.
    pub capacity: u64,
    /// The share of absent items that may be answered with "present".
    pub error_rate: f64,
    /// How many distinct items a filter that begins small may grow to while the rate holds.
    pub max_capacity: u64,
    /// The bytes that one filter may take; 0 for no limit.
    pub memory_limit: u64,
    /// How a filter hashes its items.
    pub hash: HashName,
    /// The slots of a bucket, as BUCKETSIZE gives them.
    pub bucket_size: u32,
    /// 0 for filters that do not grow, as EXPANSION gives it.
    pub expansion: u64,
    /// Where the secret keys of new filters come from.
    pub new_key: fn() -> SecretKey,
}

/// The name of a hash, as commands and settings give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashName {
    /// SipHash-1-3 with a secret key.
    SipHash13,
    /// XXH3-64 with seed 0, which anybody can compute.
    Xxh3,
}

impl HashName {
    /// All hashes.
    pub const ALL: [Self; 2] = [Self::SipHash13, Self::Xxh3];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SipHash13 => "siphash13",
            Self::Xxh3 => "xxh3",
        }
    }

    /// The hash of this name, in either case.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| text.eq_ignore_ascii_case(hash.name().as_bytes()))
    }
}

impl Settings {
    /// The default settings. The memory limit of a filter is that of the server's largest string.
    pub const DEFAULT: Self = Self {
        capacity: 64,
        error_rate: 0.001,
        max_capacity: MIN_REACH,
        memory_limit: 512 << 20,
        hash: HashName::SipHash13,
        bucket_size: 4,
        expansion: 1,
        new_key: SecretKey::of_system,
    };

    /// The capacities that can be set.
    pub const CAPACITIES: (u64, u64) = (1, crate::command::MAX_CAPACITY);
    /// The maximum capacities that can be set: as many items as the buckets of the largest table have slots.
    pub const MAX_CAPACITIES: (u64, u64) = (1, 1 << 35);
    /// The memory limits that can be set.
    pub const MEMORY_LIMITS: (u64, u64) = (0, i64::MAX as u64);

    /// Parses a rate as in commands and settings; `None` if it is malformed or out of range.
    #[must_use]
    pub fn parse_rate(text: &[u8]) -> Option<f64> {
        let rate: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        (rate > 0.0 && rate < 1.0).then_some(rate)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How much memory a filter may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// As much as the operator allows.
    Bytes(u64),
    /// No limit: commands from a primary or a file on disk were accepted already.
    Lifted,
}

impl Limits {
    /// Returns an error if more bytes are needed than allowed.
    pub(crate) const fn check(self, needed: u64) -> Result<(), CommandError> {
        match self {
            Self::Bytes(limit) if limit != 0 && needed > limit => Err(CommandError::MemoryLimit { needed, limit }),
            _ => Ok(()),
        }
    }
}

/// The parameters of a new filter. They are replicated, so replicas create the same filter, whatever their settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// How many distinct items fit before the first doubling.
    pub capacity: u64,
    /// The share of absent items that may be answered with "present".
    pub error_rate: f64,
    /// 4 or 8.
    pub slots_per_bucket: u32,
    /// The number of distinct items up to which the rate holds.
    pub max_capacity: u64,
    /// What happens beyond that number.
    pub policy: GrowthPolicy,
    /// The secret key; none for a filter that hashes with XXH3-64.
    pub key: Option<SecretKey>,
    /// The times of a filter whose items expire.
    pub lifetime: Option<Lifetime>,
}

/// The times of a new filter whose items expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// For how long an item is found.
    pub seconds: u64,
    /// For how many seconds longer it may be found, if that was chosen.
    pub resolution: Option<u64>,
    /// The time at which the filter begins, in milliseconds.
    pub start: u64,
}

/// Every filter that grows takes at least this many items, if its fingerprints have enough bits and memory allows; beyond its
/// maximum capacity at a higher rate.
const MIN_REACH: u64 = 1 << 25;

/// From this first capacity on, bits for all doublings to come would take noticeable memory: some 80 KB with the default settings.
const LARGE: u64 = 1 << 16;

/// The bits that a fingerprint keeps, however often its table doubles.
pub(crate) const CORE_BITS: u32 = 8;

type Inputs = (u64, u64, u32, u64, bool);

/// What takes long to compute for a filter of one item, and is the same for most new filters.
static USUAL_GROWTH: Memo<(Inputs, u64, u64), u64> = Memo::new();
static PLANS: Memo<Inputs, FilterPlan> = Memo::new();

/// The most bits that fingerprints begin with unless a maximum capacity or a lower rate asks for more.
const USUAL_BITS: u32 = 32;

impl Measures {
    /// The parameters that a command asks for; the settings say the rest.
    ///
    /// # Errors
    ///
    /// If the maximum capacity contradicts the first capacity, EXPANSION or LIFETIME.
    pub fn new(creation: &Creation, settings: &Settings) -> Result<Self, CommandError> {
        let capacity = creation.capacity.unwrap_or(settings.capacity);
        let bucket_size = creation.bucket_size.unwrap_or(settings.bucket_size);
        let start = creation.at.unwrap_or(0);
        let lifetime = creation.lifetime.map(|seconds| Lifetime { seconds, resolution: creation.resolution, start });
        let expansion = if lifetime.is_some() { 0 } else { settings.expansion };
        let grows = creation.expansion.unwrap_or(expansion) > 0;
        if lifetime.is_some() && (grows || creation.max_capacity.is_some_and(|most| most != capacity)) {
            return Err(CommandError::GrowingExpiring);
        }
        let key = match (creation.key, creation.hash.unwrap_or(settings.hash)) {
            (Some(key), _) => Some(key),
            (None, HashName::SipHash13) => Some((settings.new_key)()),
            (None, HashName::Xxh3) => None,
        };
        let fixed = Self {
            capacity,
            error_rate: creation.error_rate.unwrap_or(settings.error_rate),
            slots_per_bucket: if bucket_size <= 4 { 4 } else { 8 },
            max_capacity: capacity,
            policy: if grows { GrowthPolicy::RaiseRate } else { GrowthPolicy::KeepRate },
            key,
            lifetime,
        };
        if lifetime.is_some() {
            return Ok(fixed);
        }
        match creation.max_capacity {
            Some(given) if given < capacity || (!grows && given != capacity) => Err(CommandError::MaxCapacity),
            Some(given) => Ok(Self { max_capacity: given, ..fixed }),
            None if grows => {
                let inputs = (fixed.inputs(), settings.max_capacity, settings.memory_limit);
                let usual = || fixed.with_usual_growth(settings).max_capacity;
                Ok(Self { max_capacity: USUAL_GROWTH.get_or_compute(inputs, usual), ..fixed })
            }
            None => Ok(fixed),
        }
    }

    /// All but the secret key, to be compared.
    fn inputs(&self) -> Inputs {
        let raises_rate = self.policy == GrowthPolicy::RaiseRate;
        (self.capacity, self.error_rate.to_bits(), self.slots_per_bucket, self.max_capacity, raises_rate)
    }

    /// The bytes of the first table, but for the few that some keys ask for; `None` if there is no such table.
    fn size_with_any_key(&self) -> Option<u64> {
        let planned = FilterPlan::new(&self.builder()).and_then(|plan| plan.with_hasher(KeyHasher::default()));
        planned.map(|planned| planned.parameters().table_size()).ok()
    }

    /// Sets the maximum capacity if none is given: `guira.max-capacity` for a filter that begins small, whose few fingerprints may as
    /// well have the bits for it, and otherwise twice the first capacity, which costs a bit an item; less if no table is as large or
    /// memory is limited; more if the filter would soon have no bits left to give away.
    fn with_usual_growth(self, settings: &Settings) -> Self {
        let limit = if settings.memory_limit == 0 { u64::MAX } else { settings.memory_limit };
        let bits = self.bits_at_most_items();
        let for_small = if self.capacity < LARGE { settings.max_capacity } else { 0 };
        let asked = for_small.max(2 * self.capacity).max(MIN_REACH >> (bits - CORE_BITS));
        let most = (limit / u64::from(bits)).saturating_mul(8).min(self.capacity << USUAL_BITS.saturating_sub(bits));
        let mut measures = Self { max_capacity: asked.min(most).max(self.capacity), ..self };
        // A first table larger than necessary is worth it only if it is small. With the bits for growth, that of a small capacity is up to
        // four times as large as without.
        let least_size = self.size_with_any_key().unwrap_or(0);
        let most_size = least_size.saturating_mul(5).max(1 << 14).min(limit);
        while measures.max_capacity > self.capacity
            && measures.size_with_any_key().is_none_or(|first| first > most_size)
        {
            measures.max_capacity = (measures.max_capacity / 2).max(self.capacity);
        }
        measures
    }

    /// The bits that a fingerprint needs at the maximum capacity, about: the least f with 2b / 2^f below the rate.
    fn bits_at_most_items(&self) -> u32 {
        let reaches = |bits: &u32| 2.0 * f64::from(self.slots_per_bucket) <= self.error_rate * f64::from(*bits).exp2();
        let mut lengths = CORE_BITS..Parameters::MAX_FINGERPRINT_BITS;
        lengths.find(reaches).unwrap_or(Parameters::MAX_FINGERPRINT_BITS)
    }

    /// The table that the filter begins with.
    ///
    /// # Errors
    ///
    /// If there is no such table.
    pub fn parameters(&self) -> Result<Parameters, CommandError> {
        self.planned().map(|planned| *planned.parameters())
    }

    fn planned(&self) -> Result<PlannedFilter, CommandError> {
        let plan = PLANS.get_or_try_compute(self.inputs(), || FilterPlan::new(&self.builder()))?;
        Ok(plan.with_hasher(self.hasher())?)
    }

    fn hasher(&self) -> KeyHasher {
        self.key.map_or_else(KeyHasher::default, SecretKey::hasher)
    }

    fn builder(&self) -> FilterBuilder {
        CuckooFilter::builder()
            .capacity(in_memory(self.capacity))
            .max_capacity(in_memory(self.max_capacity))
            .growth_policy(self.policy)
            .false_positive_rate(self.error_rate)
            .slots_per_bucket(self.slots_per_bucket)
    }

    /// Builds an empty filter, if the limits allow its memory.
    pub(crate) fn build(&self, limits: Limits) -> Result<CuckooFilter, CommandError> {
        let planned = self.planned()?;
        limits.check(planned.parameters().table_size())?;
        Ok(planned.build()?)
    }

    /// Builds an empty filter whose items expire, if the limits allow its memory.
    pub(crate) fn build_expiring(
        &self,
        lifetime: Lifetime,
        limits: Limits,
    ) -> Result<ExpiringCuckooFilter, CommandError> {
        let builder = ExpiringCuckooFilter::builder()
            .capacity(in_memory(self.capacity))
            .false_positive_rate(self.error_rate)
            .slots_per_bucket(self.slots_per_bucket)
            .hasher(self.hasher())
            .lifetime(lifetime.seconds.saturating_mul(1000))
            .start_time(lifetime.start);
        let builder = match lifetime.resolution {
            Some(seconds) => builder.resolution(seconds.saturating_mul(1000)),
            None => builder,
        };
        limits.check(builder.parameters()?.table_size())?;
        Ok(builder.build()?)
    }

    /// Gives the arguments of CF.RESERVE behind the key that create this filter, one after the other, and takes no memory for them.
    pub fn give_arguments(&self, mut give: impl FnMut(&[u8])) {
        fn give_number(give: &mut impl FnMut(&[u8]), name: &str, value: u64) {
            give(name.as_bytes());
            give(CText::of(&value).bytes());
        }
        give(CText::of(&self.capacity).bytes());
        give(b"ERROR");
        give(CText::of(&self.error_rate).bytes());
        give_number(&mut give, "BUCKETSIZE", u64::from(self.slots_per_bucket));
        give_number(&mut give, "EXPANSION", if self.policy == GrowthPolicy::KeepRate { 0 } else { 2 });
        give_number(&mut give, "MAXCAPACITY", self.max_capacity);
        if let Some(key) = self.key {
            give(b"KEY");
            give(&key.hex());
        } else {
            give(b"HASH");
            give(HashName::Xxh3.name().as_bytes());
        }
        if let Some(Lifetime { seconds, resolution, start }) = self.lifetime {
            give_number(&mut give, "LIFETIME", seconds);
            give_number(&mut give, "AT", start);
            if let Some(seconds) = resolution {
                give_number(&mut give, "RESOLUTION", seconds);
            }
        }
    }

    /// The arguments of CF.RESERVE behind the key that create this filter.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        self.give_arguments(|argument| arguments.push(String::from_utf8_lossy(argument).into_owned()));
        arguments
    }
}
