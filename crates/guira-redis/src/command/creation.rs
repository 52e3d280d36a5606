use crate::error::CommandError;
use crate::settings::Settings;

/// What is said of a filter that is to be created.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Creation {
    /// How many distinct items fit before the first doubling.
    pub capacity: Option<u64>,
    /// ERROR: the share of absent items that may be answered with "present".
    pub error_rate: Option<f64>,
    /// BUCKETSIZE: the slots of a bucket, of which there are 2, 4 or 8; other numbers are rounded up, or down to 8.
    pub bucket_size: Option<u32>,
    /// EXPANSION: 0 for a filter that does not grow; any other number is one that doubles.
    pub expansion: Option<u64>,
    /// MAXCAPACITY: the number of distinct items up to which the rate holds while it grows.
    pub max_capacity: Option<u64>,
}

/// RedisBloom's greatest capacity.
pub(crate) const MOST_CAPACITY: u64 = 1 << 30;

/// RedisBloom's bucket size where none is given, by which the least capacity is judged.
const USUAL_BUCKET_SIZE: u32 = 2;

impl Creation {
    /// CF.RESERVE's arguments behind the key.
    pub(super) fn of_reserve(capacity: &[u8], mut options: &[&[u8]]) -> Result<Self, CommandError> {
        let mut creation =
            Self { capacity: Some(number(capacity).ok_or(CommandError::BadCapacity)?), ..Self::default() };
        while let [name, rest @ ..] = options {
            let option = ReserveOption::named(name).ok_or(CommandError::UnknownArgument)?;
            let [value, rest @ ..] = rest else { return Err(CommandError::Arity { command: "cf.reserve" }) };
            creation.set(option, value)?;
            options = rest;
        }
        creation.check_capacity("2 * BUCKETSIZE")?;
        Ok(creation)
    }

    /// CF.INSERT's capacity.
    pub(super) fn with_capacity(capacity: &[u8]) -> Result<Self, CommandError> {
        let creation = Self { capacity: Some(number(capacity).ok_or(CommandError::BadCapacity)?), ..Self::default() };
        creation.check_capacity("cf-bucket-size * 2")?;
        Ok(creation)
    }

    fn set(&mut self, option: ReserveOption, value: &[u8]) -> Result<(), CommandError> {
        match option {
            ReserveOption::BucketSize => {
                let size = number_in(value, "BUCKETSIZE", 1, 255)?;
                self.bucket_size = u32::try_from(size).ok();
            }
            // The library bounds its searches by itself.
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
        }
        Ok(())
    }

    fn check_capacity(&self, least: &'static str) -> Result<(), CommandError> {
        let bucket_size = self.bucket_size.unwrap_or(USUAL_BUCKET_SIZE);
        let is_within = |capacity| (2 * u64::from(bucket_size)..=MOST_CAPACITY).contains(&capacity);
        if self.capacity.is_none_or(is_within) { Ok(()) } else { Err(CommandError::CapacityRange { least }) }
    }
}

#[derive(Clone, Copy)]
enum ReserveOption {
    BucketSize,
    MaxIterations,
    Expansion,
    Error,
    MaxCapacity,
}

impl ReserveOption {
    fn named(name: &[u8]) -> Option<Self> {
        let options = [
            ("BUCKETSIZE", Self::BucketSize),
            ("MAXITERATIONS", Self::MaxIterations),
            ("EXPANSION", Self::Expansion),
            ("ERROR", Self::Error),
            ("MAXCAPACITY", Self::MaxCapacity),
        ];
        options.into_iter().find(|(option, _)| name.eq_ignore_ascii_case(option.as_bytes())).map(|(_, option)| option)
    }
}

/// A whole number that is not negative.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok()?;
    // `parse` takes a leading plus too, which servers do not.
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

/// A whole number in a range; what is below 0 is out of range, and what is no number is not parsed.
fn number_in(text: &[u8], option: &'static str, least: u64, most: u64) -> Result<u64, CommandError> {
    let is_negative = || std::str::from_utf8(text).is_ok_and(|text| text.parse::<i64>().is_ok());
    match number(text) {
        Some(value) if (least..=most).contains(&value) => Ok(value),
        None if !is_negative() => Err(CommandError::Unparsable { option }),
        _ => Err(CommandError::OptionRange { option, least, most }),
    }
}
