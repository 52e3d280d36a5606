//! Eight threads print each line of the input once. What they have seen is saved each minute, and opened at the next start.
//!
//!     cargo run --release -p guira --example shared < lines.txt

use std::error::Error;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{io, iter, thread};

use guira::{ConcurrentCuckooFilter, CuckooFilter};

fn main() -> Result<(), Box<dyn Error>> {
    let next_line = || io::stdin().lines().next()?.ok();
    share(Path::new("seen.guira"), Duration::from_secs(60), &|seen| {
        // A line is printed also where there is no more room.
        let new = iter::from_fn(next_line).filter(|line| seen.insert_if_absent(line) != Ok(false));
        new.for_each(|line| println!("{line}"));
    })
}

/// Lets eight threads work with the filter of a file, which is saved after each pause and in the end.
fn share(path: &Path, pause: Duration, work: &(impl Fn(&ConcurrentCuckooFilter) + Sync)) -> Result<(), Box<dyn Error>> {
    let new = CuckooFilter::builder().capacity(1000).max_capacity(10_000_000).false_positive_rate(0.001).build()?;
    let seen = if path.exists() { CuckooFilter::open(path)? } else { new };
    let seen = &ConcurrentCuckooFilter::try_from(seen)?;
    let (working, done) = channel::<()>();
    thread::scope(|threads| {
        for working in vec![working; 8] {
            threads.spawn(move || (work(seen), drop(working)));
        }
        // Nothing is ever sent: the channel closes when the last thread is done.
        while done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            seen.snapshot()?.save(path)?;
        }
        Ok(seen.snapshot()?.save(path)?)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn what_threads_insert_is_saved_and_opened_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("seen.guira");
        let next = AtomicU64::new(0);
        let insert = |seen: &ConcurrentCuckooFilter| {
            for _ in 0..5000 {
                seen.insert(&next.fetch_add(1, Ordering::Relaxed)).expect("room");
            }
        };
        for keys in [40_000, 80_000] {
            share(&path, Duration::from_millis(1), &insert).expect("a file that can be written");
            let saved = CuckooFilter::open(&path).expect("saved");
            assert_eq!(saved.len(), keys);
            assert!((0..keys as u64).all(|key| saved.contains(&key)));
        }
    }

    #[test]
    fn it_is_saved_while_threads_work() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("seen.guira");
        // Ends only when the file is there.
        let wait = |_: &ConcurrentCuckooFilter| while !path.exists() {};
        share(&path, Duration::from_millis(1), &wait).expect("a file that can be written");
    }
}
