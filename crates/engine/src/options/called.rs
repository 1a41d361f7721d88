//! Maps the names that other programs use for options to the names in dupsift.

/// Names of options in other programs, each with the name of the same option in dupsift.
const WORDS: &[(&str, &str)] = &[
    ("algo", "algorithms"),
    ("column", "text-column"),
    ("cores", "threads"),
    ("field", "text-column"),
    ("id", "id-column"),
    ("id-field", "id-column"),
    ("id-key", "id-column"),
    ("force", "overwrite"),
    ("jaccard-threshold", "threshold"),
    ("jobs", "threads"),
    ("mem", "memory"),
    ("method", "algorithms"),
    ("min-similarity", "threshold"),
    ("num-proc", "threads"),
    ("num-workers", "threads"),
    ("out-dir", "out"),
    ("output", "out"),
    ("output-dir", "out"),
    ("similarity", "threshold"),
    ("similarity-threshold", "threshold"),
    ("text", "text-column"),
    ("text-field", "text-column"),
    ("text-key", "text-column"),
    ("workers", "threads"),
];

/// Returns the dupsift option for a name from another program. The words of the name are separated by `-`.
pub fn ours(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OPTIONS;

    #[test]
    fn each_word_stands_for_an_option_and_is_none() {
        for (word, ours) in WORDS {
            assert!(OPTIONS.iter().any(|option| option.name == *ours), "{ours}");
            assert!(OPTIONS.iter().all(|option| option.name != *word), "{word}");
        }
        assert_eq!((ours("text"), ours("out")), (Some("text-column"), None));
    }
}
