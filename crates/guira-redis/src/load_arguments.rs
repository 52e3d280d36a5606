//! The arguments of `loadmodule`: a prefix for the commands, and RedisBloom's settings.

use std::fmt;

use crate::settings::Settings;

/// The arguments that the module is loaded with. They take no memory, like all that loading does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadArguments<'words> {
    /// What the names of all commands begin with, in either case; `cf.` unless given.
    pub(crate) prefix: &'words [u8],
    /// RedisBloom's `cf-initial-size`: the capacity of filters that CF.ADD and CF.INSERT create.
    pub(crate) initial_size: Option<u64>,
    /// RedisBloom's `cf-bucket-size`: the BUCKETSIZE of these filters.
    pub(crate) bucket_size: Option<u64>,
    /// RedisBloom's `cf-expansion-factor`: the EXPANSION of these filters.
    pub(crate) expansion_factor: Option<u64>,
    /// Which of [`WITHOUT_EFFECT`] are given.
    has_without_effect: [bool; WITHOUT_EFFECT.len()],
}

/// Settings that have no effect: searches are bounded by the library and filters by the memory limit, and the other settings
/// are for other types.
const WITHOUT_EFFECT: [&str; 7] = [
    "cf-max-iterations",
    "cf-max-expansions",
    "bf-error-rate",
    "bf-initial-size",
    "bf-expansion-factor",
    "error-rate",
    "initial-size",
];

/// What is wrong with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadArgumentError<'words> {
    NoValue { name: &'words [u8] },
    Unknown { name: &'words [u8] },
    Prefix { given: &'words [u8] },
    Number { name: &'static str, value: &'words [u8], range: (u64, u64) },
}

impl<'words> LoadArguments<'words> {
    /// The range of `cf-bucket-size`.
    pub(crate) const BUCKET_SIZES: (u64, u64) = (1, 255);
    /// The range of `cf-expansion-factor`.
    pub(crate) const EXPANSION_FACTORS: (u64, u64) = (0, 32768);

    /// Reads names and values. RedisBloom's names are those of its settings, in either case and with `-` or `_`.
    ///
    /// # Errors
    ///
    /// The first argument that is wrong.
    pub(crate) fn parse(mut words: impl Iterator<Item = &'words [u8]>) -> Result<Self, LoadArgumentError<'words>> {
        let mut arguments = Self {
            prefix: b"cf.",
            initial_size: None,
            bucket_size: None,
            expansion_factor: None,
            has_without_effect: [false; WITHOUT_EFFECT.len()],
        };
        while let Some(name) = words.next() {
            let value = words.next().ok_or(LoadArgumentError::NoValue { name })?;
            let numbers = [
                ("cf-initial-size", &mut arguments.initial_size, Settings::CAPACITIES),
                ("cf-bucket-size", &mut arguments.bucket_size, Self::BUCKET_SIZES),
                ("cf-expansion-factor", &mut arguments.expansion_factor, Self::EXPANSION_FACTORS),
            ];
            if is(name, "prefix") {
                arguments.prefix = prefix(value)?;
            } else if let Some((name, place, range)) = numbers.into_iter().find(|(known, ..)| is(name, known)) {
                *place = Some(number(name, value, range)?);
            } else if let Some(index) = WITHOUT_EFFECT.iter().position(|known| is(name, known)) {
                arguments.has_without_effect[index] = true;
            } else {
                return Err(LoadArgumentError::Unknown { name });
            }
        }
        Ok(arguments)
    }

    /// Settings of RedisBloom that are given, and have no effect here.
    pub(crate) fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        WITHOUT_EFFECT.into_iter().zip(self.has_without_effect).filter_map(|(name, is_given)| is_given.then_some(name))
    }
}

/// Whether a word is this name.
fn is(word: &[u8], name: &str) -> bool {
    let is_letter =
        |(&given, letter): (&u8, u8)| given.eq_ignore_ascii_case(&letter) || (given, letter) == (b'_', b'-');
    word.len() == name.len() && word.iter().zip(name.bytes()).all(is_letter)
}

/// A prefix such as `gf.`.
fn prefix(given: &[u8]) -> Result<&[u8], LoadArgumentError<'_>> {
    let is_name = |name: &[u8]| {
        (1..=16).contains(&name.len()) && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
    };
    given.strip_suffix(b".").filter(|name| is_name(name)).ok_or(LoadArgumentError::Prefix { given }).map(|_| given)
}

fn number<'words>(
    name: &'static str,
    value: &'words [u8],
    range: (u64, u64),
) -> Result<u64, LoadArgumentError<'words>> {
    let number = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
    number.filter(|number| (range.0..=range.1).contains(number)).ok_or(LoadArgumentError::Number { name, value, range })
}

/// What is wrong, and what to write instead.
impl fmt::Display for LoadArgumentError<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoValue { name } => write!(formatter, "the argument {} has no value", name.escape_ascii()),
            Self::Unknown { name } => write!(
                formatter,
                "there is no argument {}: give prefix NAME., or settings of RedisBloom such as cf-initial-size; set \
                 guira.capacity and others by CONFIG or in the configuration file",
                name.escape_ascii()
            ),
            Self::Prefix { given } => write!(
                formatter,
                "prefix {}: give at most 16 letters, digits, - or _ with a dot behind them, such as GF.",
                given.escape_ascii()
            ),
            Self::Number { name, value, range: (least, most) } => {
                write!(formatter, "{name} {}: give a number from {least} to {most}", value.escape_ascii())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LoadArguments;

    fn parse(line: &str) -> Result<LoadArguments<'_>, String> {
        LoadArguments::parse(line.split_whitespace().map(str::as_bytes)).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_of_redisbloom_are_taken_with_their_meaning_or_named_as_without_effect() {
        let taken =
            parse("CF_MAX_EXPANSIONS 32 cf-initial-size 5000 CF-BUCKET-SIZE 8 cf_expansion_factor 0 ERROR_RATE 0.1");
        let taken = taken.expect("all of them are known");
        assert_eq!((taken.initial_size, taken.bucket_size, taken.expansion_factor), (Some(5000), Some(8), Some(0)));
        assert!(taken.without_effect().eq(["cf-max-expansions", "error-rate"]));
        assert_eq!(taken.prefix, b"cf.");
        assert_eq!(parse("prefix GF.").map(|taken| taken.prefix), Ok(b"GF.".as_slice()));
        let none = parse("").expect("none need be given");
        assert_eq!((none.prefix, none.initial_size, none.without_effect().count()), (b"cf.".as_slice(), None, 0));
    }

    #[test]
    fn other_arguments_are_refused_with_what_to_write() {
        let lines =
            ["prefix", "prefix GF", "prefix .", "prefix G~.", "cf-initial-size 0", "cf-bucket-size 256", "foo 1"];
        for line in lines {
            let refusal = parse(line).expect_err(line);
            assert!(refusal.contains("give") || refusal.contains("no value"), "{line}: {refusal}");
        }
    }
}
