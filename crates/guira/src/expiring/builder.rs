use super::ExpiringCuckooFilter;
use crate::filter::FilterBuilder;

/// The kinds whose keys expire.
pub(crate) trait Expires {}

impl Expires for ExpiringCuckooFilter {}

/// Times, in any unit, where keys expire.
#[expect(private_bounds, reason = "so that nobody else implements it")]
impl<T: Expires> FilterBuilder<T> {
    /// Sets for how long a key is found after it came. It is rounded up to a whole number of resolutions.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::ExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001);
    /// assert_eq!(builder.lifetime(1400).build()?.lifetime(), 1400);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn lifetime(mut self, lifetime: u64) -> Self {
        self.chosen.times.lifetime = Some(lifetime);
        self
    }

    /// Sets for how long after its lifetime a key may still be found: at most the lifetime, at least a 254th of it. Unless given,
    /// it is a fourteenth, rounded up. With k resolutions in a lifetime, there are log2(k + 2) bits beside each fingerprint, rounded
    /// up, and room for one key in k more.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::ExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001).lifetime(3600);
    /// assert_eq!(builder.resolution(60).parameters()?.value_bits(), 6);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn resolution(mut self, resolution: u64) -> Self {
        self.chosen.times.resolution = Some(resolution);
        self
    }

    /// Sets the time at which the filter begins, 0 unless given. An empty filter can also be brought to any time by
    /// [`advance`](ExpiringCuckooFilter::advance).
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = guira::ExpiringCuckooFilter::builder().capacity(1000).false_positive_rate(0.001).lifetime(3600);
    /// assert_eq!(builder.start_time(1_800_000_000).build()?.time(), 1_800_000_000);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn start_time(mut self, time: u64) -> Self {
        self.chosen.times.start = time;
        self
    }
}
