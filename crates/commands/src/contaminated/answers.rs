//! Interprets the answers of items. An answer is either text or a position in a list of choices.
//!
//! ```text
//! choices              answer           text
//! [red, green, blue]   1                green     (a position counted from 0, as in MMLU)
//! [red, green, blue]   1.0              green     (from a column of floats, unless it is one of the choices)
//! [red, green]         2                green     (from 1, if the set has the last position and no 0, as in WinoGrande)
//! [red, green, blue]   C, (c) or "C."   blue
//! [red, green, blue]   green            green
//! (none)               9 + 3 #### 12    12        (GSM8K: what follows the last ####)
//! (none)               C                (null)    (a letter alone says nothing)
//! ```

use dupsift_tables::nested::lists::of_json;

/// Marks the final answer in a worked solution.
const FINAL: &str = "####";

/// Holds the answers and choices of an item before they are interpreted.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// The value of the answer column, or the values if the column holds a list. Each value is a correct answer.
    values: Vec<String>,
    choices: Vec<String>,
}

/// Specifies how to interpret the answers of an evaluation set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The answers are text.
    Texts,
    /// The answers are letters, or positions in the list of choices. Positions are counted from this number.
    PositionsFrom(usize),
}

/// The position of a choice in the list of choices, given in an answer as a number or as a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Number(usize),
    /// The position of a letter, counted from 0.
    Letter(usize),
}

impl Given {
    /// Creates the answers from the value of the answer column, which may be a JSON list.
    pub(crate) fn new(answer: Option<&str>, choices: Vec<String>) -> Given {
        let values = answer.map_or_else(Vec::new, |text| of_json(text).unwrap_or_else(|| vec![text.to_owned()]));
        // Test sets use -1 to hide their answers.
        let whole = |value: &'_ String| value.trim().trim_end_matches(".0").parse::<i64>();
        let is_hidden = |value: &String| !choices.is_empty() && whole(value).is_ok_and(|at| at < 0);
        let values = values.into_iter().filter(|value| !value.trim().is_empty() && !is_hidden(value)).collect();
        Given { values, choices }
    }

    /// Returns the memory that all answers and choices take in bytes. A list may have any number of empty choices.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |text: &String| (text.len() + size_of::<String>()) as u64;
        self.values.iter().chain(&self.choices).map(bytes).sum()
    }

    /// Returns the answers as text.
    pub(crate) fn texts(&self, meaning: Meaning) -> Vec<&str> {
        let text = |value: &'_ String| -> Option<&str> {
            if let (Meaning::PositionsFrom(first), Some(position)) = (meaning, position(value, &self.choices)) {
                let at = match position {
                    Position::Number(number) => number.checked_sub(first),
                    Position::Letter(at) => Some(at),
                };
                if let Some(choice) = at.and_then(|at| self.choices.get(at)) {
                    return Some(choice);
                }
            }
            None
        };
        let own = |value: &'_ String| !matches!(position(value, &self.choices), Some(Position::Letter(_)));
        let texts = self.values.iter().filter_map(|value| {
            let own = || own(value).then(|| value.rsplit_once(FINAL).map_or(value.as_str(), |(_, last)| last));
            text(value).or_else(own).map(str::trim)
        });
        texts.filter(|text| !text.is_empty()).collect()
    }
}

impl Meaning {
    /// Decides how to interpret the answers in a set: as positions if most answers to items with choices can be positions, and as text
    /// otherwise.
    pub(crate) fn of<'g>(set: impl Iterator<Item = &'g Given>) -> Meaning {
        let (mut positions, mut others, mut first, mut last) = (0, 0, false, false);
        for Given { values, choices } in set.filter(|given| !given.choices.is_empty()) {
            for value in values {
                match position(value, choices) {
                    Some(Position::Number(number)) if number <= choices.len() => {
                        positions += 1;
                        first |= number == 0;
                        last |= number == choices.len();
                    }
                    Some(Position::Letter(at)) if at < choices.len() => positions += 1,
                    _ => others += 1,
                }
            }
        }
        match positions > others {
            true => Meaning::PositionsFrom(usize::from(last && !first)),
            false => Meaning::Texts,
        }
    }
}

/// Returns the position in the list of choices that a value may represent. The value must be a number or a single letter; the letter may be
/// written as `(C)` or `C.`. A whole number may be written as a float.
fn position(value: &str, choices: &[String]) -> Option<Position> {
    let is_choice = |value: &str| choices.iter().any(|choice| choice.trim() == value);
    let is_whole = |whole: &&str| whole.bytes().all(|byte| byte.is_ascii_digit()) && !is_choice(value.trim());
    let whole = value.trim().strip_suffix(".0").filter(is_whole);
    let value = whole.unwrap_or(value);
    let value = value.trim().trim_start_matches('(').trim_end_matches([')', '.', ':']);
    let mut letters = value.chars();
    match (letters.next(), letters.next()) {
        (Some(letter @ ('a'..='z' | 'A'..='Z')), None) => {
            Some(Position::Letter((letter.to_ascii_lowercase() as u8 - b'a').into()))
        }
        _ => value.parse().ok().map(Position::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(answer: &str, choices: &[&str]) -> Given {
        Given::new(Some(answer), choices.iter().map(|choice| (*choice).to_owned()).collect())
    }

    fn texts(set: &[(&str, &[&str])]) -> Vec<Option<String>> {
        let set: Vec<Given> = set.iter().map(|(answer, choices)| given(answer, choices)).collect();
        let meaning = Meaning::of(set.iter());
        set.iter().map(|given| given.texts(meaning).first().map(|text| (*text).to_owned())).collect()
    }

    #[test]
    fn a_position_may_be_a_float_unless_it_is_a_choice() {
        let colors: &[&str] = &["red", "green", "blue"];
        assert_eq!(texts(&[("1.0", colors), ("0.0", colors)]), [Some("green".to_owned()), Some("red".to_owned())]);
        assert_eq!(texts(&[("1.5", colors), ("-1.0", colors)]), [Some("1.5".to_owned()), None]);
        let numbers: &[&str] = &["1.0", "2.0", "3.0"];
        assert_eq!(texts(&[("2.0", numbers), ("1.0", numbers)]), [Some("2.0".to_owned()), Some("1.0".to_owned())]);
    }

    #[test]
    fn positions_and_letters_lead_to_choices() {
        let colors: &[&str] = &["red", "green", "blue", "black"];
        let some = |texts: &[&str]| texts.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>();
        assert_eq!(texts(&[("1", colors), ("3", colors)]), some(&["green", "black"]));
        assert_eq!(texts(&[("0", colors), ("4", colors)]), some(&["red", "4"]));
        assert_eq!(texts(&[("1", colors), ("4", colors)]), some(&["red", "black"]), "from 1");
        assert_eq!(texts(&[("C", colors), ("(d)", colors), ("B.", colors)]), some(&["blue", "black", "green"]));
        assert_eq!(texts(&[("A", colors), ("4", colors)]), some(&["red", "black"]), "ARC has both");
        assert_eq!(texts(&[("green", colors), ("red", colors)]), some(&["green", "red"]));
        // Most answers in this set are text, so this answer is also interpreted as text.
        assert_eq!(texts(&[("12", &["1", "12"]), ("40", &["40", "2"]), ("2", &["2", "5", "7"])])[2], Some("2".into()));
    }

    #[test]
    fn answers_without_choices_are_texts() {
        let none: &[&str] = &[];
        let answers = [("He eats 9 + 3.\n#### 12", none), ("C", none), ("", none), (" Paris ", none), ("-1", none)];
        let expected = [Some("12"), None, None, Some("Paris"), Some("-1")].map(|text| text.map(str::to_owned));
        assert_eq!(texts(&answers), expected);
        assert_eq!(texts(&[("-1", &["a", "b"])]), [None], "hidden");
        assert_eq!(texts(&[("1", &["a", ""]), ("0", &["a", ""])]), [None, Some("a".into())]);
        let all = given("[\"NYC\", \"New York\", null]", &[]);
        assert_eq!(all.texts(Meaning::Texts), ["NYC", "New York"]);
        assert_eq!(Given::new(None, Vec::new()).texts(Meaning::PositionsFrom(0)), [""; 0]);
    }
}
