//! Provides floating-point functions that give the same result, to the last bit, on every machine.
//!
//! IEEE 754 defines the results of basic arithmetic and square roots exactly, but not the results of logarithms, powers and similar
//! functions: each C library rounds them differently, so weights and signatures would differ from machine to machine. The functions in this
//! module use the `libm` crate, which is plain arithmetic compiled into the program. Clippy rejects all other implementations
//! (`clippy.toml`).

/// Returns the natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Returns e to the power of x.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Returns e to the power of x, minus 1, accurately even for small x.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Returns the arc cosine.
#[inline]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Returns the length of the hypotenuse of a right triangle with these legs.
#[inline]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

/// Returns x to the power of y.
#[inline]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn these_are_the_functions_of_the_platform_but_for_the_last_bits() {
        for x in [1e-300, 0.1, 0.5, 1.0, 2.0, 3.75, 1e9, 1e300] {
            let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 4.0 * f64::EPSILON * theirs.abs();
            assert!(near(ln(x), x.ln()), "ln {x}");
            let small = x.min(1.0);
            assert!(near(exp(small), small.exp()) && near(exp_m1(small), small.exp_m1()), "exp {small}");
            assert!(near(acos(small), small.acos()) && near(pow(small, 2.5), small.powf(2.5)), "acos, pow {small}");
            assert!(near(hypot(small, 1.0), small.hypot(1.0)), "hypot {small}");
        }
        // Compares the results with reference values, because every machine must compute the same bits.
        assert_eq!(ln(10.0).to_bits(), 0x4002_6bb1_bbb5_5516);
        assert_eq!(exp(1.0).to_bits(), 0x4005_bf0a_8b14_576a);
    }
}
