//! Detects the processor's vector instructions, and prefetches memory. The instructions determine which of several kernels is used; all
//! kernels return bit-identical results.

/// The widest vector instructions that kernels may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// No vector instructions.
    Plain,
    /// 32 bytes at a time.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 64 bytes at a time: AVX-512 F, BW and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Returns the best level that this processor supports.
    #[inline]
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            // The standard library caches the results, so each check costs only one load.
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Level::Avx2;
            }
        }
        Level::Plain
    }

    /// Returns all levels that this processor supports, beginning with [`Level::Plain`]. Tests run with every level.
    pub fn all() -> Vec<Level> {
        #[cfg(target_arch = "x86_64")]
        let levels = [Level::Plain, Level::Avx2, Level::Avx512];
        #[cfg(not(target_arch = "x86_64"))]
        let levels = [Level::Plain];
        let end = levels.iter().position(|&level| level == Level::best()).unwrap_or(0);
        levels[..=end].to_vec()
    }
}

/// Prefetches a list element that will be read soon, so that the read does not wait for memory.
#[inline]
#[allow(unsafe_code)]
pub fn ask_for<T>(list: &[T], at: usize) {
    // SAFETY: a prefetch cannot fault, so any address is allowed.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(list.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, at);
}
