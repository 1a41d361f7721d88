//! Describes what the bytes of a file look like if they are not lines of UTF-8.

/// Describes a file whose lines end as on old Apple computers.
pub(crate) const RETURNS: (&str, &str) =
    ("its lines end in a carriage return without a line feed", "; convert it with tr '\\r' '\\n' < FILE");

/// Describes byte order marks at the beginning of lines, with a place for their number.
pub(crate) const MARKS: (&str, &str) = (
    "{} with a byte order mark, which counts as part of the text, as if files had been joined",
    "; remove it with sed 's/^\\xEF\\xBB\\xBF//' FILE",
);

/// Describes a byte order mark that is not at the beginning of a file.
pub(crate) const MARK: (&str, &str) = (
    "it begins with a byte order mark, as if files had been joined",
    "; remove it with sed 's/^\\xEF\\xBB\\xBF//' FILE",
);

/// Returns what text consists of instead of UTF-8 lines, with the way out; `None` if it may be lines.
pub(crate) fn of_text(text: &[u8]) -> Option<(&'static str, &'static str)> {
    let begin = &text[..text.len().min(64)];
    // In UTF-32, the first or the last two bytes of every four are zeros, except in characters that are rarely used.
    let fours = || begin.chunks_exact(4);
    let is_32 =
        |zeros: fn(&[u8]) -> bool| fours().len() > 1 && fours().all(zeros) && begin.iter().any(|byte| *byte > 0);
    if text.starts_with(b"\xFF\xFE\0\0") || is_32(|four| four[2..] == [0, 0]) || is_32(|four| four[..2] == [0, 0]) {
        return Some(("it looks like UTF-32", "; convert it with iconv -f UTF-32 -t UTF-8 FILE"));
    }
    let is_marked = text.starts_with(b"\xFF\xFE") || text.starts_with(b"\xFE\xFF");
    // In UTF-16, the zeros of ASCII characters are all at even or all at odd positions.
    let zeros = [0, 1].map(|first| begin.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count());
    let is_wide = zeros.contains(&0) && zeros.iter().sum::<usize>() > 1;
    if is_marked || is_wide || 4 * zeros.iter().sum::<usize>() >= begin.len().max(1) {
        return Some(("it looks like UTF-16", "; try `encoding=auto`"));
    }
    if begin.iter().any(|byte| *byte < b' ' && !byte.is_ascii_whitespace()) {
        return Some(("it looks like binary data", ""));
    }
    let way_out = "; try `encoding=auto`, or the name of the encoding";
    std::str::from_utf8(text).is_err().then_some(("it is not UTF-8", way_out))
}
