//! Precomputes a function of a count (such as a document frequency) for the small counts that most words have.

/// Values for larger counts are computed on each call.
const KEPT: u64 = 1 << 16;

/// Holds the function with its precomputed values.
pub(crate) struct ByCount {
    kept: Vec<f64>,
    function: Box<dyn Fn(u64) -> f64 + Send + Sync>,
}

impl ByCount {
    /// Returns the function with precomputed values for counts up to `most`, or up to `KEPT` if `most` is larger.
    pub(crate) fn new(most: u64, function: impl Fn(u64) -> f64 + Send + Sync + 'static) -> ByCount {
        ByCount { kept: (0..=most.min(KEPT)).map(&function).collect(), function: Box::new(function) }
    }

    /// Returns the value for a count.
    #[inline]
    pub(crate) fn of(&self, count: u64) -> f64 {
        self.kept.get(count as usize).copied().unwrap_or_else(|| (self.function)(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_and_computed_values_are_the_same() {
        let root = |count: u64| (count as f64).sqrt();
        for most in [0, 10, u64::MAX] {
            let by_count = ByCount::new(most, root);
            for count in [0, 1, 9, 10, 11, KEPT - 1, KEPT, KEPT + 1, 1 << 40] {
                assert_eq!(by_count.of(count), root(count), "{count} of {most}");
            }
        }
    }
}
