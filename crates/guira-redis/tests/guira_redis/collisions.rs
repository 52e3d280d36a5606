//! An attack on filters whose hash anybody can compute: items that fill both buckets of another one.

use guira_redis::{Command, CommandError, CommandName, Limits, Settings, StoredFilter, execute};

fn run(value: &mut Option<StoredFilter>, name: CommandName, words: &[&[u8]]) -> Result<(), CommandError> {
    let command = Command::parse(name, words)?;
    execute(&command, value, Settings::default, Limits::Bytes(1 << 30), || 0).map(|_| ())
}

/// XXH3-64 of eight bytes is a bijection of a number made of them: this is its inverse, but for a constant.
fn invert(digest: u64) -> u64 {
    const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;
    // Newton's iteration doubles the bits that are right, of which there are three.
    let inverse =
        (0..5).fold(FACTOR, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(FACTOR.wrapping_mul(inverse))));
    let mut state = digest ^ (digest >> 28) ^ (digest >> 56);
    state = state.wrapping_mul(inverse);
    state ^= (state >> 35) + 8;
    state = state.wrapping_mul(inverse);
    // 64 of these steps are none at all, so that 63 undo one.
    (0..63).fold(state, |state, _| state ^ state.rotate_left(49) ^ state.rotate_left(24))
}

/// The number that eight bytes are taken for: the first four are its high half.
fn number_of(item: [u8; 8]) -> u64 {
    u64::from_le_bytes(item).rotate_left(32)
}

fn digest(item: &[u8]) -> u64 {
    guira::KeyHasher::xxh3(0).digest(item).get()
}

/// Eight bytes with this digest.
fn item_with(wanted: u64) -> [u8; 8] {
    let known = *b"whatever";
    let constant = invert(digest(&known)) ^ number_of(known);
    (invert(wanted) ^ constant).rotate_left(32).to_le_bytes()
}

/// How many of 50 victims are refused after eight other items each were stored.
fn refused_victims(options: &[&[u8]]) -> usize {
    let is_refused = |victim: &String| {
        let wanted = digest(victim.as_bytes());
        let mut value = None;
        run(&mut value, CommandName::Reserve, options).expect("created");
        for other in 1..=8 {
            // The low half makes the fingerprint, and the highest bits the bucket.
            let item = item_with(wanted ^ (other << 33));
            assert_eq!(digest(&item), wanted ^ (other << 33), "the hash was inverted");
            run(&mut value, CommandName::Add, &[&item]).expect("stored");
        }
        run(&mut value, CommandName::Add, &[victim.as_bytes()]).is_err()
    };
    (0..50).map(|number| format!("victim-{number}")).filter(is_refused).count()
}

#[test]
fn a_secret_key_keeps_attackers_from_filling_the_buckets_of_an_item() {
    assert_eq!(refused_victims(&[b"1000", b"HASH", b"xxh3"]), 50);
    assert_eq!(refused_victims(&[b"1000"]), 0);
}
