//! Code that is compiled for several instruction sets, of which the best is chosen at run time.

/// Runs `work`, compiled for the best instruction set that this processor has and the library knows: in a loop that the
/// compiler can vectorise, AVX-512 computes eight 64-bit numbers at a time. The result is the same everywhere.
///
/// `work` is told whether it has such vectors, as a constant. It must be inlined to be compiled anew: mark it
/// `#[inline(always)]`, and what it calls too.
#[inline]
#[cfg_attr(
    all(feature = "std", target_arch = "x86_64"),
    expect(unsafe_code, reason = "instructions that not every processor has")
)]
pub(crate) fn vectorized<R>(work: impl FnOnce(bool) -> R) -> R {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,bmi1,bmi2")]
        fn with_avx_512<R>(work: impl FnOnce(bool) -> R) -> R {
            work(true)
        }
        let has_avx_512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        if has_avx_512 {
            // SAFETY: the processor has just been found to have these features.
            return unsafe { with_avx_512(work) };
        }
    }
    work(false)
}
