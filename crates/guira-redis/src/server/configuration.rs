//! The settings, by the server's own CONFIG command: `guira.capacity` and so on.

use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::context::{Context, bytes_of};
use super::functions::{ERR, OK, RawString, functions};
use crate::c_text::CText;
use crate::cast::signed;
use crate::load_arguments::LoadArguments;
use crate::secret::SecretKey;
use crate::settings::{HashName, Limits, Settings};

static CAPACITY: AtomicU64 = AtomicU64::new(Settings::DEFAULT.capacity);
static MAX_CAPACITY: AtomicU64 = AtomicU64::new(Settings::DEFAULT.max_capacity);
static MEMORY_LIMIT: AtomicU64 = AtomicU64::new(Settings::DEFAULT.memory_limit);
static IS_SECRET: AtomicBool = AtomicBool::new(true);

// RedisBloom's settings. 0 means that one was not given, except for `cf-expansion-factor`, which may be 0.
static CF_INITIAL_SIZE: AtomicU64 = AtomicU64::new(0);
static CF_BUCKET_SIZE: AtomicU64 = AtomicU64::new(0);
static CF_EXPANSION_FACTOR: AtomicU64 = AtomicU64::new(Settings::DEFAULT.expansion);
static CF_MAX_ITERATIONS: AtomicU64 = AtomicU64::new(20);
static CF_MAX_EXPANSIONS: AtomicU64 = AtomicU64::new(32);

/// The bits of a floating-point number.
static ERROR_RATE: AtomicU64 = AtomicU64::new(Settings::DEFAULT.error_rate.to_bits());

/// The current settings.
pub(super) fn settings() -> Settings {
    let given = |place: &AtomicU64| Some(place.load(Ordering::Relaxed)).filter(|&value| value > 0);
    Settings {
        capacity: given(&CF_INITIAL_SIZE).unwrap_or_else(|| CAPACITY.load(Ordering::Relaxed)),
        error_rate: f64::from_bits(ERROR_RATE.load(Ordering::Relaxed)),
        max_capacity: MAX_CAPACITY.load(Ordering::Relaxed),
        memory_limit: MEMORY_LIMIT.load(Ordering::Relaxed),
        hash: if IS_SECRET.load(Ordering::Relaxed) { HashName::SipHash13 } else { HashName::Xxh3 },
        bucket_size: given(&CF_BUCKET_SIZE)
            .and_then(|size| u32::try_from(size).ok())
            .unwrap_or(Settings::DEFAULT.bucket_size),
        expansion: CF_EXPANSION_FACTOR.load(Ordering::Relaxed),
        new_key,
    }
}

/// The memory limit alone.
pub(super) fn limits() -> Limits {
    Limits::Bytes(MEMORY_LIMIT.load(Ordering::Relaxed))
}

/// The next key. The server makes 32 random bytes at a time, which takes longer than all else that a new filter does.
static NEXT_KEY: Mutex<Option<SecretKey>> = Mutex::new(None);

/// A secret key from the server's random numbers.
fn new_key() -> SecretKey {
    let mut next = NEXT_KEY.lock().unwrap_or_else(PoisonError::into_inner);
    next.take().unwrap_or_else(|| {
        let mut keys = [[0; SecretKey::SIZE]; 2];
        let bytes = keys.as_flattened_mut();
        // SAFETY: the length is that of the array.
        unsafe { (functions().random_bytes)(bytes.as_mut_ptr(), bytes.len()) };
        let [first, second] = keys.map(SecretKey::new);
        *next = Some(second);
        first
    })
}

/// Applies the arguments of `loadmodule`. Settings of the configuration file take precedence.
pub(super) fn take(arguments: &LoadArguments<'_>) {
    let given = [
        (&CF_INITIAL_SIZE, arguments.initial_size),
        (&CF_BUCKET_SIZE, arguments.bucket_size),
        (&CF_EXPANSION_FACTOR, arguments.expansion_factor),
    ];
    for (place, value) in given {
        if let Some(value) = value {
            place.store(value, Ordering::Relaxed);
        }
    }
}

// REDISMODULE_CONFIG_DEFAULT, REDISMODULE_CONFIG_MEMORY
const PLAIN: c_uint = 0;
const MEMORY: c_uint = 1 << 7;

/// Registers the settings, and reads those of the configuration file. Returns `true` if the server accepted them.
pub(super) fn register(context: Context) -> bool {
    let numbers = [
        (c"capacity", &CAPACITY, PLAIN, Settings::CAPACITIES),
        (c"max-capacity", &MAX_CAPACITY, PLAIN, Settings::MAX_CAPACITIES),
        (c"memory-limit", &MEMORY_LIMIT, MEMORY, Settings::MEMORY_LIMITS),
        (c"cf-initial-size", &CF_INITIAL_SIZE, PLAIN, (0, Settings::CAPACITIES.1)),
        (c"cf-bucket-size", &CF_BUCKET_SIZE, PLAIN, (0, LoadArguments::BUCKET_SIZES.1)),
        (c"cf-expansion-factor", &CF_EXPANSION_FACTOR, PLAIN, LoadArguments::EXPANSION_FACTORS),
        (c"cf-max-iterations", &CF_MAX_ITERATIONS, PLAIN, (1, 65535)),
        (c"cf-max-expansions", &CF_MAX_EXPANSIONS, PLAIN, (1, 65535)),
    ];
    let are_numbers_taken = numbers.into_iter().all(|(name, place, flags, (least, most))| {
        let value = signed(place.load(Ordering::Relaxed));
        let place = std::ptr::from_ref(place).cast_mut().cast::<c_void>();
        // SAFETY: the name is copied; the functions get a pointer to a static.
        let status = unsafe {
            (functions().register_number)(
                context.0,
                name.as_ptr(),
                value,
                flags,
                signed(least),
                signed(most),
                number,
                set_number,
                None,
                place,
            )
        };
        status == OK
    });
    are_numbers_taken && register_rate(context) && register_hash(context) && {
        // SAFETY: the context is that of loading the module.
        unsafe { (functions().load_configuration)(context.0) == OK }
    }
}

fn register_hash(context: Context) -> bool {
    let (names, values) = ([c"siphash13".as_ptr(), c"xxh3".as_ptr()], [SIP_HASH_13, XXH3]);
    // SAFETY: the name and the two lists of two are copied.
    let status = unsafe {
        (functions().register_choice)(
            context.0,
            c"hash".as_ptr(),
            SIP_HASH_13,
            PLAIN,
            names.as_ptr(),
            values.as_ptr(),
            2,
            hash,
            set_hash,
            None,
            null_mut(),
        )
    };
    status == OK
}

const SIP_HASH_13: c_int = 0;
const XXH3: c_int = 1;

unsafe extern "C" fn hash(_name: *const c_char, _place: *mut c_void) -> c_int {
    if IS_SECRET.load(Ordering::Relaxed) { SIP_HASH_13 } else { XXH3 }
}

unsafe extern "C" fn set_hash(
    _name: *const c_char,
    value: c_int,
    _place: *mut c_void,
    _error: *mut *mut RawString,
) -> c_int {
    IS_SECRET.store(value == SIP_HASH_13, Ordering::Relaxed);
    OK
}

fn register_rate(context: Context) -> bool {
    let (name, default): (&CStr, &CStr) = (c"error-rate", c"0.001");
    // SAFETY: name and value are copied.
    let status = unsafe {
        (functions().register_text)(context.0, name.as_ptr(), default.as_ptr(), PLAIN, rate, set_rate, None, null_mut())
    };
    status == OK
}

unsafe extern "C" fn number(_name: *const c_char, place: *mut c_void) -> c_longlong {
    // SAFETY: the server passes the pointer that was registered, to one of the statics above.
    signed(unsafe { &*place.cast::<AtomicU64>() }.load(Ordering::Relaxed))
}

unsafe extern "C" fn set_number(
    _name: *const c_char,
    value: c_longlong,
    place: *mut c_void,
    _error: *mut *mut RawString,
) -> c_int {
    // SAFETY: the server passes the pointer that was registered, to one of the statics above. It has checked the limits.
    unsafe { &*place.cast::<AtomicU64>() }.store(u64::try_from(value).unwrap_or(0), Ordering::Relaxed);
    OK
}

/// A string that belongs to the server from now on.
fn string(text: &[u8]) -> *mut RawString {
    // SAFETY: pointer and length are those of the slice, which is copied.
    unsafe { (functions().create_string)(null_mut(), text.as_ptr().cast(), text.len()) }
}

static RATE_TEXT: Mutex<Option<KeptString>> = Mutex::new(None);

/// The string that shows the rate: the server reads it and does not free it.
struct KeptString(*mut RawString);

// SAFETY: only the server's thread that runs commands touches the string.
unsafe impl Send for KeptString {}

unsafe extern "C" fn rate(_name: *const c_char, _place: *mut c_void) -> *mut RawString {
    let text = string(CText::of(&settings().error_rate).bytes());
    if let Ok(mut kept) = RATE_TEXT.lock()
        && let Some(KeptString(old)) = kept.replace(KeptString(text))
    {
        // SAFETY: the string was made here, and the server has read it.
        unsafe { (functions().free_string)(null_mut(), old) };
    }
    text
}

unsafe extern "C" fn set_rate(
    _name: *const c_char,
    value: *mut RawString,
    _place: *mut c_void,
    error: *mut *mut RawString,
) -> c_int {
    // SAFETY: the server gives a string that is valid during the call.
    let Some(rate) = Settings::parse_rate(unsafe { bytes_of(value) }) else {
        // SAFETY: the server gives a place for the reason, and frees it.
        unsafe { *error = string(b"give a number between 0 and 1, both excluded, such as 0.001") };
        return ERR;
    };
    ERROR_RATE.store(rate.to_bits(), Ordering::Relaxed);
    OK
}
