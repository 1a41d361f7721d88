//! Formats numbers for use in sentences: `1,627 documents`, `1 file`.

/// Formats a number with thousands separators: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count followed by a noun: `2 files`, `1 file`. The noun must form its plural by adding "s".
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Formats a count followed by the singular or plural form of a phrase: for `file was|files were`, returns `1 file was` or `2 files were`.
pub fn counted_as(number: u64, one_or_many: &str) -> String {
    let (one, many) = one_or_many.split_once('|').unwrap_or((one_or_many, one_or_many));
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// Formats a share or a similarity with three decimals: `0.874`. A value below 1 is never shown as 1, because two texts with a similarity of
/// 0.9996 are not identical.
pub fn share(value: impl Into<f64>) -> String {
    let value = value.into();
    format!("{:.3}", if value < 1.0 { value.min(0.999) } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_in_threes() {
        let numbers = [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, u64::MAX];
        let texts = ["0", "7", "999", "1,000", "12,345", "999,999", "1,000,000", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(thousands), texts);
    }

    #[test]
    fn a_share_below_one_is_not_shown_as_one() {
        let shares = [0.0, 0.87449, 0.9996, 1.0, f64::NAN].map(share);
        assert_eq!(shares, ["0.000", "0.874", "0.999", "1.000", "NaN"]);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2_000].map(|number| counted(number, "file")), ["0 files", "1 file", "2,000 files"]);
        assert_eq!([1, 2].map(|number| counted_as(number, "file was|files were")), ["1 file was", "2 files were"]);
    }
}
