//! The arguments of `loadmodule`: a prefix for the commands, and RedisBloom's settings.

use crate::settings::Settings;

/// The arguments that the module is loaded with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadArguments {
    /// What the names of all commands begin with, in lower case; `cf.` unless given.
    pub prefix: String,
    /// RedisBloom's `cf-initial-size`: the capacity of filters that CF.ADD and CF.INSERT create.
    pub initial_size: Option<u64>,
    /// RedisBloom's `cf-bucket-size`: the BUCKETSIZE of these filters.
    pub bucket_size: Option<u64>,
    /// RedisBloom's `cf-expansion-factor`: the EXPANSION of these filters.
    pub expansion_factor: Option<u64>,
    /// Settings of RedisBloom that have no effect here.
    pub without_effect: Vec<String>,
}

impl Default for LoadArguments {
    fn default() -> Self {
        Self {
            prefix: "cf.".to_owned(),
            initial_size: None,
            bucket_size: None,
            expansion_factor: None,
            without_effect: Vec::new(),
        }
    }
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

impl LoadArguments {
    /// The range of `cf-bucket-size`.
    pub const BUCKET_SIZES: (u64, u64) = (1, 255);
    /// The range of `cf-expansion-factor`.
    pub const EXPANSION_FACTORS: (u64, u64) = (0, 32768);

    /// Reads names and values. RedisBloom's names are those of its settings, in either case and with `-` or `_`.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong, and what to write instead.
    pub fn parse(words: &[&[u8]]) -> Result<Self, String> {
        let mut arguments = Self::default();
        let mut rest = words;
        while let [name, behind @ ..] = rest {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase().replace('_', "-");
            let [value, behind @ ..] = behind else { return Err(format!("the argument {name} has no value")) };
            let value = String::from_utf8_lossy(value).into_owned();
            match name.as_str() {
                "prefix" => arguments.prefix = prefix(&value)?,
                "cf-initial-size" => arguments.initial_size = Some(number(&name, &value, Settings::CAPACITIES)?),
                "cf-bucket-size" => arguments.bucket_size = Some(number(&name, &value, Self::BUCKET_SIZES)?),
                "cf-expansion-factor" => {
                    arguments.expansion_factor = Some(number(&name, &value, Self::EXPANSION_FACTORS)?);
                }
                other if WITHOUT_EFFECT.contains(&other) => arguments.without_effect.push(name),
                other => {
                    return Err(format!(
                        "there is no argument {other}: give prefix NAME., or settings of RedisBloom such as \
                         cf-initial-size; set guira.capacity and others by CONFIG or in the configuration file"
                    ));
                }
            }
            rest = behind;
        }
        Ok(arguments)
    }
}

/// A prefix such as `gf.`.
fn prefix(given: &str) -> Result<String, String> {
    let is_name = |name: &str| {
        (1..=16).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    match given.strip_suffix('.') {
        Some(name) if is_name(name) => Ok(given.to_ascii_lowercase()),
        _ => {
            Err(format!("prefix {given}: give at most 16 letters, digits, - or _ with a dot behind them, such as GF."))
        }
    }
}

fn number(name: &str, value: &str, (least, most): (u64, u64)) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{name} {value}: give a number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::LoadArguments;

    fn parse(line: &str) -> Result<LoadArguments, String> {
        let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        LoadArguments::parse(&words)
    }

    #[test]
    fn arguments_of_redisbloom_are_taken_with_their_meaning_or_named_as_without_effect() {
        let taken =
            parse("CF_MAX_EXPANSIONS 32 cf-initial-size 5000 CF-BUCKET-SIZE 8 cf_expansion_factor 0 ERROR_RATE 0.1");
        let taken = taken.expect("all of them are known");
        assert_eq!((taken.initial_size, taken.bucket_size, taken.expansion_factor), (Some(5000), Some(8), Some(0)));
        assert_eq!(taken.without_effect, ["cf-max-expansions", "error-rate"]);
        assert_eq!(taken.prefix, "cf.");
        assert_eq!(parse("prefix GF.").map(|taken| taken.prefix), Ok("gf.".to_owned()));
        assert_eq!(parse(""), Ok(LoadArguments::default()));
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
