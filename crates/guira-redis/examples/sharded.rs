//! One filter over many nodes: split over keys with hash tags by digest, so that it grows with the cluster, and batches
//! stay batches.
//!
//! ```sh
//! cargo run --release -p guira-redis --features cluster-example --example sharded -- redis://127.0.0.1:7000
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use guira::KeyHasher;
use redis::cluster::{ClusterClient, ClusterConnection};
use redis::{FromRedisValue, cmd};

/// A filter whose items are spread over keys, each wherever the cluster puts it.
struct ShardedFilter {
    name: String,
    shards: u64,
    hasher: KeyHasher,
}

impl ShardedFilter {
    /// As many shards as the cluster may ever have nodes: their number can't be changed later.
    fn new(name: &str, shards: u64) -> Self {
        // Another seed than the filters': the items of a shard must not look alike to its filter.
        Self { name: name.to_owned(), shards, hasher: KeyHasher::xxh3(0x5a4d) }
    }

    /// The hash tag alone decides on the node.
    fn key(&self, shard: u64) -> String {
        format!("{}:{{{}-{shard}}}", self.name, self.name)
    }

    fn shard(&self, item: &str) -> u64 {
        // The high half of the product of 64 uniform bits and the number of shards.
        let product = u128::from(self.hasher.digest(item).get()) * u128::from(self.shards);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// Creates all shards for so many items together.
    fn reserve(&self, cluster: &mut ClusterConnection, capacity: u64, rate: f64) -> redis::RedisResult<()> {
        // Chance gives some shards more than their part: six standard deviations cover it.
        let part = capacity.div_ceil(self.shards);
        let room = part + 6 * part.isqrt() + 6;
        for shard in 0..self.shards {
            let mut reserve = cmd("CF.RESERVE");
            reserve.arg(self.key(shard)).arg(room.max(4)).arg("ERROR").arg(rate).exec(cluster)?;
        }
        Ok(())
    }

    /// One command for each shard that has items; the answers are in the order of the items.
    fn for_each<A: FromRedisValue + Clone>(
        &self,
        cluster: &mut ClusterConnection,
        command: &str,
        words: &[&str],
        items: &[String],
    ) -> Result<Vec<A>, Box<dyn Error>> {
        let mut places = BTreeMap::<u64, Vec<usize>>::new();
        for (place, item) in items.iter().enumerate() {
            places.entry(self.shard(item)).or_default().push(place);
        }
        let mut answers: Vec<Option<A>> = vec![None; items.len()];
        for (shard, places) in places {
            let mut batch = cmd(command);
            batch.arg(self.key(shard)).arg(words);
            places.iter().for_each(|&place| _ = batch.arg(&items[place]));
            let of_shard: Vec<A> = batch.query(cluster)?;
            for (place, answer) in places.into_iter().zip(of_shard) {
                answers[place] = Some(answer);
            }
        }
        answers.into_iter().collect::<Option<Vec<A>>>().ok_or_else(|| "fewer answers than items".into())
    }

    fn insert_each(&self, cluster: &mut ClusterConnection, items: &[String]) -> Result<Vec<i64>, Box<dyn Error>> {
        self.for_each(cluster, "CF.INSERT", &["NOCREATE", "ITEMS"], items)
    }

    fn contains_many_into(
        &self,
        cluster: &mut ClusterConnection,
        items: &[String],
    ) -> Result<Vec<bool>, Box<dyn Error>> {
        self.for_each(cluster, "CF.MEXISTS", &[], items)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    const ITEMS: u64 = 100_000;
    const RATE: f64 = 0.001;

    let nodes: Vec<String> = std::env::args().skip(1).collect();
    let mut cluster = ClusterClient::new(nodes)?.get_connection()?;
    let filter = ShardedFilter::new("seen", 16);
    for shard in 0..filter.shards {
        cmd("DEL").arg(filter.key(shard)).exec(&mut cluster)?;
    }
    filter.reserve(&mut cluster, ITEMS, RATE)?;

    let named = |kind: &str| (0..ITEMS).map(|number| format!("{kind}-{number}")).collect::<Vec<_>>();
    let (present, absent) = (named("present"), named("absent"));
    for batch in present.chunks(5000) {
        if filter.insert_each(&mut cluster, batch)?.iter().any(|&answer| answer != 1) {
            return Err("an item was not stored".into());
        }
    }
    let (mut found, mut mistaken) = (0, 0);
    for batch in present.chunks(5000) {
        found += filter.contains_many_into(&mut cluster, batch)?.into_iter().filter(|&answer| answer).count();
    }
    for batch in absent.chunks(5000) {
        mistaken += filter.contains_many_into(&mut cluster, batch)?.into_iter().filter(|&answer| answer).count();
    }
    println!("{found} of {ITEMS} items found, {mistaken} of {ITEMS} absent ones taken for present");
    // 0.001 of them, and six standard deviations.
    if found != present.len() || mistaken > 100 + 60 {
        return Err("that should not be".into());
    }
    Ok(())
}
