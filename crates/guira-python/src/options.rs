//! The arguments of constructors.

use guira::{GrowthPolicy, KeyHasher, LoadOptions, Preference};
use pyo3::PyResult;

use crate::error::ParameterError;

/// The arguments that a filter is built from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Options {
    pub(crate) capacity: usize,
    pub(crate) rate: f64,
    pub(crate) max_capacity: Option<usize>,
    pub(crate) growth_policy: GrowthPolicy,
    pub(crate) preference: Preference,
    pub(crate) hasher: KeyHasher,
}

impl Options {
    pub(crate) fn new(
        (capacity, rate): (usize, f64),
        (max_capacity, growth_policy): (Option<usize>, Option<&str>),
        prefer: &str,
        (hash, key, seed): (&str, Option<&[u8]>, u64),
    ) -> PyResult<Self> {
        if max_capacity.is_some() && prefer == "space" {
            let message = "a filter that grows has one layout: give max_capacity or prefer='space', not both";
            return Err(ParameterError::new_err(message));
        }
        if max_capacity.is_none() && growth_policy.is_some() {
            return Err(ParameterError::new_err("growth_policy is for a filter that grows: give max_capacity too"));
        }
        let growth_policy = growth_policy.map_or(Ok(GrowthPolicy::KeepRate), self::growth_policy)?;
        let (preference, hasher) = (preference(prefer)?, hasher(hash, key, seed)?);
        Ok(Self { capacity, rate, max_capacity, growth_policy, preference, hasher })
    }

    /// The value of `growth_policy` for the same.
    pub(crate) fn growth_policy(&self) -> Option<&'static str> {
        self.max_capacity.map(|_| name_of(self.growth_policy))
    }

    /// The value of `prefer` that was given.
    pub(crate) fn prefer(&self) -> &'static str {
        if self.preference == Preference::Space { "space" } else { "speed" }
    }
}

/// `growth_policy="keep-rate"` or `growth_policy="raise-rate"`.
fn growth_policy(name: &str) -> PyResult<GrowthPolicy> {
    let found = [GrowthPolicy::KeepRate, GrowthPolicy::RaiseRate].into_iter().find(|&policy| name_of(policy) == name);
    let message = || format!("growth_policy is 'keep-rate' or 'raise-rate', not {name:?}");
    found.ok_or_else(|| ParameterError::new_err(message()))
}

pub(crate) const fn name_of(policy: GrowthPolicy) -> &'static str {
    match policy {
        GrowthPolicy::RaiseRate => "raise-rate",
        _ => "keep-rate",
    }
}

/// `prefer="speed"` or `prefer="space"`.
pub(crate) fn preference(prefer: &str) -> PyResult<Preference> {
    match prefer {
        "speed" => Ok(Preference::Speed),
        "space" => Ok(Preference::Space),
        _ => Err(ParameterError::new_err(format!("prefer is 'speed' or 'space', not {prefer:?}"))),
    }
}

/// `hash="xxh3"` with a seed, or `hash="siphash"` with a secret key.
pub(crate) fn hasher(hash: &str, key: Option<&[u8]>, seed: u64) -> PyResult<KeyHasher> {
    match (hash, secret_key(key)?) {
        ("xxh3", None) => Ok(KeyHasher::xxh3(seed)),
        // The library derives a seed from the key. 0 is what the argument is where none is given.
        ("siphash", Some(_)) if seed != 0 => Err(ParameterError::new_err(
            "seed is for hash='xxh3'; hash='siphash' takes key, which does what a seed does",
        )),
        ("siphash", Some(key)) => Ok(KeyHasher::sip_hash_13(key)),
        ("siphash", None) => {
            Err(ParameterError::new_err("hash='siphash' needs key: 16 secret bytes, as of secrets.token_bytes(16)"))
        }
        ("xxh3", Some(_)) => Err(ParameterError::new_err("key is for hash='siphash'; hash='xxh3' takes seed")),
        _ => Err(ParameterError::new_err(format!("hash is 'xxh3' or 'siphash', not {hash:?}"))),
    }
}

/// The options for loading a file, with its secret key if given. `normalized` says that the caller does to keys what was done to
/// those of the file.
pub(crate) fn load_options(key: Option<&[u8]>, normalized: bool) -> PyResult<LoadOptions> {
    let options = LoadOptions::new();
    let options = if normalized { options.normalized_keys() } else { options };
    Ok(match secret_key(key)? {
        Some(key) => options.secret_key(key),
        None => options,
    })
}

fn secret_key(key: Option<&[u8]>) -> PyResult<Option<[u8; 16]>> {
    let Some(key) = key else { return Ok(None) };
    let length = |_| ParameterError::new_err(format!("a secret key has 16 bytes, not {}", key.len()));
    key.try_into().map(Some).map_err(length)
}
