use crate::error::CommandError;
use crate::secret::SecretKey;
use crate::settings::{HashName, Settings};

/// The options of a command that creates a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Creation {
    /// How many distinct items fit before the first doubling.
    pub capacity: Option<u64>,
    /// ERROR: the share of absent items that may be answered with "present".
    pub error_rate: Option<f64>,
    /// BUCKETSIZE: the slots of a bucket. Numbers up to 4 mean 4, larger ones 8.
    pub bucket_size: Option<u32>,
    /// EXPANSION: 0 for a filter that does not grow; with any other number the filter doubles.
    pub expansion: Option<u64>,
    /// MAXCAPACITY: the number of distinct items up to which the rate holds while it grows.
    pub max_capacity: Option<u64>,
    /// HASH: how items are hashed.
    pub hash: Option<HashName>,
    /// KEY: the secret key, in place of a random one.
    pub key: Option<SecretKey>,
    /// LIFETIME: for how many seconds an item is found.
    pub lifetime: Option<u64>,
    /// RESOLUTION: for how many seconds longer an item may be found.
    pub resolution: Option<u64>,
    /// AT: the time at which a filter whose items expire begins, in milliseconds.
    pub at: Option<u64>,
}

/// RedisBloom's greatest capacity.
pub(crate) const MAX_CAPACITY: u64 = 1 << 30;

/// The longest lifetime, in seconds: some 136 years.
pub(crate) const MAX_LIFETIME: u64 = (1 << 32) - 1;

/// The most resolutions in a lifetime, as far as their numbers have bits.
const MOST_RESOLUTIONS: u64 = 254;

impl Creation {
    /// Parses the arguments of CF.RESERVE behind the key.
    pub(super) fn of_reserve(capacity: &[u8], mut options: &[&[u8]]) -> Result<Self, CommandError> {
        let mut creation =
            Self { capacity: Some(number(capacity).ok_or(CommandError::BadCapacity)?), ..Self::default() };
        while let [name, rest @ ..] = options {
            let option = ReserveOption::named(name).ok_or_else(|| match name.eq_ignore_ascii_case(b"LIKE") {
                true => CommandError::LikeAlone,
                false => CommandError::UnknownArgument,
            })?;
            let [value, rest @ ..] = rest else { return Err(CommandError::Arity { command: "cf.reserve" }) };
            creation.set(option, value)?;
            options = rest;
        }
        creation.check()?;
        Ok(creation)
    }

    /// Sets an option of CF.INSERT, where options come before the items.
    pub(super) fn set_for_insertion(&mut self, name: &[u8], value: &[u8]) -> Result<(), CommandError> {
        if name.eq_ignore_ascii_case(b"CAPACITY") {
            self.capacity = Some(number(value).ok_or(CommandError::BadCapacity)?);
        } else if name.eq_ignore_ascii_case(b"HASH") {
            self.set(ReserveOption::Hash, value)?;
        } else {
            return Err(CommandError::UnknownArgument);
        }
        self.check()
    }

    fn set(&mut self, option: ReserveOption, value: &[u8]) -> Result<(), CommandError> {
        match option {
            ReserveOption::BucketSize => {
                let size = number_in(value, "BUCKETSIZE", 1, 255)?;
                self.bucket_size = u32::try_from(size).ok();
            }
            // Has no effect: the library bounds its searches by itself.
            ReserveOption::MaxIterations => _ = number_in(value, "MAXITERATIONS", 1, 65535)?,
            ReserveOption::Expansion => self.expansion = Some(number_in(value, "EXPANSION", 0, 32768)?),
            ReserveOption::Error => {
                let rate = Settings::parse_rate(value);
                let is_number = || std::str::from_utf8(value).is_ok_and(|text| text.parse::<f64>().is_ok());
                self.error_rate = Some(rate.ok_or_else(|| match is_number() {
                    true => CommandError::RateRange,
                    false => CommandError::Unparsable { option: "ERROR" },
                })?);
            }
            ReserveOption::MaxCapacity => {
                let capacity = number(value).ok_or(CommandError::Unparsable { option: "MAXCAPACITY" })?;
                self.max_capacity = Some(capacity);
            }
            ReserveOption::Hash => self.hash = Some(HashName::parse(value).ok_or(CommandError::UnknownHash)?),
            ReserveOption::Lifetime => self.lifetime = Some(number_in(value, "LIFETIME", 1, MAX_LIFETIME)?),
            ReserveOption::Resolution => self.resolution = Some(number_in(value, "RESOLUTION", 1, MAX_LIFETIME)?),
            ReserveOption::At => self.at = Some(time(value)?),
            ReserveOption::Key => self.key = Some(SecretKey::parse(value).ok_or(CommandError::BadKey)?),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), CommandError> {
        if self.capacity.is_some_and(|capacity| !(1..=MAX_CAPACITY).contains(&capacity)) {
            return Err(CommandError::CapacityRange);
        }
        if self.at.is_some() && self.lifetime.is_none() {
            return Err(CommandError::TimeNotUsed);
        }
        match (self.resolution, self.lifetime) {
            (Some(_), None) => return Err(CommandError::ResolutionNotUsed),
            (Some(resolution), Some(lifetime))
                if !(lifetime.div_ceil(MOST_RESOLUTIONS)..=lifetime).contains(&resolution) =>
            {
                return Err(CommandError::ResolutionRange);
            }
            _ => {}
        }
        match (self.hash, self.key) {
            (Some(HashName::Xxh3), Some(_)) => Err(CommandError::KeyNotUsed),
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Copy)]
enum ReserveOption {
    BucketSize,
    MaxIterations,
    Expansion,
    Error,
    MaxCapacity,
    Hash,
    Key,
    Lifetime,
    Resolution,
    At,
}

impl ReserveOption {
    fn named(name: &[u8]) -> Option<Self> {
        let options = [
            ("BUCKETSIZE", Self::BucketSize),
            ("MAXITERATIONS", Self::MaxIterations),
            ("EXPANSION", Self::Expansion),
            ("ERROR", Self::Error),
            ("MAXCAPACITY", Self::MaxCapacity),
            ("HASH", Self::Hash),
            ("KEY", Self::Key),
            ("LIFETIME", Self::Lifetime),
            ("RESOLUTION", Self::Resolution),
            ("AT", Self::At),
        ];
        options.into_iter().find(|(option, _)| name.eq_ignore_ascii_case(option.as_bytes())).map(|(_, option)| option)
    }
}

/// A whole number that is not negative.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok()?;
    // `parse` takes a leading plus too, which servers do not.
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

/// The value of AT: milliseconds since the beginning of 1970, as the server counts them.
pub(super) fn time(text: &[u8]) -> Result<u64, CommandError> {
    number_in(text, "AT", 0, i64::MAX as u64)
}

/// Parses a whole number in a range. A negative number is out of range; what is no number is a parsing error.
fn number_in(text: &[u8], option: &'static str, least: u64, most: u64) -> Result<u64, CommandError> {
    let is_negative = || std::str::from_utf8(text).is_ok_and(|text| text.parse::<i64>().is_ok());
    match number(text) {
        Some(value) if (least..=most).contains(&value) => Ok(value),
        None if !is_negative() => Err(CommandError::Unparsable { option }),
        _ => Err(CommandError::OptionRange { option, least, most }),
    }
}
