//! What the processor can do: which of several kernels that give the same bits is run, and which memory it should fetch ahead.

/// The widest vector instructions that kernels may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing is known of the processor.
    Plain,
    /// 32 bytes at once.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 64 bytes at once: AVX-512 F, BW and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best level of this processor.
    #[inline]
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            // The standard library keeps the answers: asking costs a load each.
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

    /// All levels that this processor has, the plain one first: what laws run through.
    pub fn all() -> Vec<Level> {
        #[cfg(target_arch = "x86_64")]
        let levels = [Level::Plain, Level::Avx2, Level::Avx512];
        #[cfg(not(target_arch = "x86_64"))]
        let levels = [Level::Plain];
        let end = levels.iter().position(|&level| level == Level::best()).unwrap_or(0);
        levels[..=end].to_vec()
    }
}

/// Asks for an entry of a list that is looked at later, so that there is no wait for memory then.
#[inline]
#[allow(unsafe_code)]
pub fn ask_for<T>(list: &[T], at: usize) {
    // SAFETY: a prefetch reads nothing, wherever the address points to.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(list.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, at);
}
