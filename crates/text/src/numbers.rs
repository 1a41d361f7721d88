//! The numbers of a text as they are written: what two forms of one notice differ in where their words agree.

/// The numbers of a normalised text in order: digits, with single `.`, `,` or `:` between digits.
///
/// ```text
/// "v1.2.3 от 15.03.2024, 12:30; 1,5 млн (3)" -> 1.2.3  15.03.2024  12:30  1,5  3
/// ```
pub fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !digit(at) {
            at += 1;
        }
        let start = at;
        while digit(at) || (at > start && matches!(bytes.get(at), Some(b'.' | b',' | b':')) && digit(at + 1)) {
            at += 1;
        }
        // Only ASCII was stepped over, so both ends lie between two characters.
        (at > start).then(|| &text[start..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_they_are_written() {
        let of = |text: &'static str| numbers(text).collect::<Vec<_>>();
        assert_eq!(of("v1.2.3 от 15.03.2024, 12:30; 1,5 млн (3)"), ["1.2.3", "15.03.2024", "12:30", "1,5", "3"]);
        assert_eq!(of("2024年5月7日"), ["2024", "5", "7"]);
        assert_eq!(of("1..2 .5 6. 7,,8"), ["1", "2", "5", "6", "7", "8"]);
        assert!(of("нет, no: ни.одного").is_empty() && of("").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn each_begins_and_ends_with_a_digit(text in "[0-9.,:a年]{0,20}") {
            for number in numbers(&text) {
                let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
                proptest::prop_assert!(digit(number.as_bytes().first()) && digit(number.as_bytes().last()));
            }
            let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
            proptest::prop_assert_eq!(numbers(&text).map(digits).sum::<usize>(), digits(&text));
        }
    }
}
