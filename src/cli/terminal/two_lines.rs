//! Splits an error into two lines: the problem, then `help:` with the solution.
//!
//! A message from the library is a single line, `PROBLEM; SOLUTION`, so it can be used as a warning, a Python exception or a JSON value. A
//! solution begins with one of [`LEADS`].

/// The words with which the solution in a message can begin.
const LEADS: &[&str] = &[
    "add ",
    "accept ",
    "available: ",
    "bring ",
    "choose ",
    "copy ",
    "correct ",
    "convert ",
    "create ",
    "decompress ",
    "did you mean ",
    "empty ",
    "expected ",
    "export ",
    "fetch ",
    "fix ",
    "give ",
    "is `",
    "keys are ",
    "look ",
    "lower ",
    "make ",
    "mount ",
    "move ",
    "name ",
    "pass ",
    "put ",
    "quote ",
    "raise ",
    "remove ",
    "rename ",
    "repair ",
    "restore ",
    "run ",
    "see ",
    "start ",
    "take ",
    "train ",
    "try ",
    "unpack ",
    "use ",
    "wait ",
    "write ",
    "`overwrite` ",
];

/// Splits a message into the problem and the solution, if it contains one.
pub(crate) fn two_lines(message: &str) -> (&str, Option<String>) {
    let is_way_out = |(at, _): &(usize, &str)| LEADS.iter().any(|lead| message[at + 2..].starts_with(lead));
    match message.match_indices("; ").find(is_way_out) {
        Some((at, _)) => (&message[..at], Some(message[at + 2..].replace("?; ", "? "))),
        None => (message, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_gets_a_line_of_its_own() {
        let way_out = |message| two_lines(message).1;
        assert_eq!(
            two_lines("there is no algorithm \"exat\"; did you mean \"exact\"?; available: exact, tf"),
            ("there is no algorithm \"exat\"", Some("did you mean \"exact\"? available: exact, tf".to_owned()))
        );
        assert_eq!(
            two_lines("cannot write a: disk full; 3 GiB are missing; pass a different `work`"),
            ("cannot write a: disk full; 3 GiB are missing", Some("pass a different `work`".to_owned()))
        );
        assert_eq!(way_out("docs.jsonl, row 6: null text (`strict` stops at the first bad row)"), None);
        assert_eq!(way_out("; "), None);
    }
}
