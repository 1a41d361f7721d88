//! Determines the category of a document with a multinomial naive Bayes classifier (Manning, Raghavan, Schütze 2008, section 13.2).
//!
//! P(c) = documents in c / documents, P(w|c) = (occurrences of w in c + 1) / (words in c + V), where V is the number of words in the model.
//! A document gets the class for which ln P(c), plus the sum of ln P(w|c) over all occurrences of words, is highest. Words that are not in
//! the model are ignored, ties are broken by the name of the class, and a document without any known word has no class. The posterior is
//! the probability of the class, given the document.
//!
//! The words come from the title and the body together (see [`category_text`]); the user's stop words are skipped. A model is valid only
//! for the text options with which it was trained (`Pipeline::identity`).
//!
//! ```text
//! china: "Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao"    other: "Tokyo Japan Chinese"    V = 6
//! "Chinese Chinese Chinese Tokyo Japan": china 3/4 (6/14)^3 (1/14)^2 = 0.0003012, other 1/4 (2/9)^5 = 0.0001355
//! -> china, posterior 0.6898                                                                     [book, example 13.1]
//! ```

pub(crate) mod training;

use hashbrown::HashTable;

use dupsift_core::float;
use dupsift_core::hash::hash64;
use dupsift_text::Analysis;

/// The maximum number of classes in a model.
pub(crate) const MAX_CLASSES: usize = 10_000;

/// The maximum count. Integers up to this number can be represented exactly as 64-bit floating-point numbers.
const MOST_COUNTED: u64 = 1 << 53;

/// Returns the text that is classified: the title, a blank line, the body.
pub fn category_text(title: Option<&str>, body: Option<&str>) -> String {
    [title, body].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// One row of the table that represents a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelRow<'m> {
    /// The name of the class.
    pub class: &'m str,
    /// The word; `None` in the row with the number of documents in the class.
    pub word: Option<&'m str>,
    /// The number of occurrences of the word in the class, or the number of documents in the class; at least 1.
    pub count: u64,
}

/// The name of a class, and its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    name: String,
    documents: u64,
    words: u64,
}

/// A trained model, shared by all threads.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The classes, sorted by name.
    classes: Vec<Class>,
    /// The words, in code point order.
    words: Vec<String>,
    /// `ends[i]` is the end of the counts of word `i` in `counts`.
    ends: Vec<usize>,
    /// The counts of all words. For each word, these are the numbers of the classes that contain the word, in ascending order, each paired
    /// with the number of occurrences in that class.
    counts: Vec<(u32, u64)>,
    /// The index of each word in `words`, by the hash of the word.
    numbers: HashTable<u32>,
    documents: u64,
    total: u64,
}

impl Model {
    /// Builds a model from its rows in the order of [`Model::rows`].
    ///
    /// # Errors
    /// Returns a description of the problem: a row is repeated or out of order, a count is 0, a class was not declared, or there are too
    /// many classes or words or none at all.
    pub fn from_rows<'r>(rows: impl IntoIterator<Item = ModelRow<'r>>) -> Result<Model, String> {
        let mut model = Model::default();
        for (at, row) in rows.into_iter().enumerate() {
            model.push(row).map_err(|why| format!("row {at} of the model: {why}"))?;
        }
        match (model.classes.len(), model.words.len()) {
            (0, _) => Err("the model has no classes".to_owned()),
            (_, 0) => Err("the model has no words".to_owned()),
            _ => Ok(model),
        }
    }

    fn push(&mut self, row: ModelRow<'_>) -> Result<(), String> {
        let ModelRow { class, word, count } = row;
        self.total = match self.total.checked_add(count).filter(|total| *total <= MOST_COUNTED) {
            Some(total) if count > 0 => total,
            _ => return Err(format!("the count {count} is 0, or the counts add up to more than {MOST_COUNTED}")),
        };
        let Some(word) = word else {
            if !self.words.is_empty() {
                return Err(format!("the class {class:?} comes after words"));
            }
            if self.classes.last().is_some_and(|last| last.name.as_str() >= class) {
                return Err(format!("the class {class:?} is out of order"));
            }
            if self.classes.len() == MAX_CLASSES {
                return Err(format!("there are more than {MAX_CLASSES} classes"));
            }
            self.documents += count;
            self.classes.push(Class { name: class.to_owned(), documents: count, words: 0 });
            return Ok(());
        };
        let Ok(number) = self.classes.binary_search_by(|known| known.name.as_str().cmp(class)) else {
            return Err(format!("the class {class:?} of the word {word:?} was not declared"));
        };
        match self.words.last().map(|last| last.as_str().cmp(word)) {
            Some(std::cmp::Ordering::Equal) => {
                if self.counts.last().is_some_and(|last| last.0 >= number as u32) {
                    return Err(format!("the classes of the word {word:?} are out of order"));
                }
            }
            Some(std::cmp::Ordering::Greater) => {
                return Err(format!("the word {word:?} is out of order"));
            }
            _ => self.add_word(word)?,
        }
        self.counts.push((number as u32, count));
        self.classes[number].words += count;
        if let Some(end) = self.ends.last_mut() {
            *end = self.counts.len();
        }
        Ok(())
    }

    fn add_word(&mut self, word: &str) -> Result<(), String> {
        let number = u32::try_from(self.words.len()).map_err(|_| "there are too many words".to_owned())?;
        self.words.push(word.to_owned());
        self.ends.push(self.counts.len());
        let words = &self.words;
        self.numbers.insert_unique(hash64(word.as_bytes()), number, |&known| hash64(words[known as usize].as_bytes()));
        Ok(())
    }

    /// Returns the rows of the model: the classes sorted by name, then the words in code point order, each with its classes sorted by name.
    pub fn rows(&self) -> impl Iterator<Item = ModelRow<'_>> {
        let classes =
            self.classes.iter().map(|class| ModelRow { class: &class.name, word: None, count: class.documents });
        let words = self.words.iter().enumerate().flat_map(move |(number, word)| {
            self.counts_of(number).iter().map(move |&(class, count)| ModelRow {
                class: &self.classes[class as usize].name,
                word: Some(word),
                count,
            })
        });
        classes.chain(words)
    }

    /// Returns the names of the classes in alphabetical order.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.classes.iter().map(|class| class.name.as_str())
    }

    /// Returns the number of words in the model.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Returns the number of documents that the model was trained on.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the class of a document and the posterior of that class, from 0 to 1; `None` for a document without a known word.
    pub fn classify(&self, document: &Analysis<'_>) -> Option<(&str, f64)> {
        let posteriors = self.posteriors(document)?;
        let mut best = 0;
        for (number, posterior) in posteriors.iter().enumerate() {
            if *posterior > posteriors[best] {
                best = number;
            }
        }
        Some((&self.classes[best].name, posteriors[best]))
    }

    /// Returns the posterior of every class, in the order of [`Model::classes`]; `None` for a document without a known word.
    pub fn posteriors(&self, document: &Analysis<'_>) -> Option<Vec<f64>> {
        let mut scores: Vec<f64> =
            self.classes.iter().map(|class| float::ln(class.documents as f64 / self.documents as f64)).collect();
        let mut known = 0;
        for counted in document.counted().iter().filter(|counted| !counted.word.stop) {
            let Some(number) = self.number(counted.word.hash, document.word(&counted.word)) else { continue };
            known += u64::from(counted.tf);
            // Classes that do not contain the word can be skipped: their count is 0, and ln(0 + 1) is 0.
            for &(class, count) in self.counts_of(number) {
                scores[class as usize] += f64::from(counted.tf) * float::ln(count as f64 + 1.0);
            }
        }
        if known == 0 {
            return None;
        }
        for (score, class) in scores.iter_mut().zip(&self.classes) {
            *score -= known as f64 * float::ln(class.words as f64 + self.words.len() as f64);
        }
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter_mut().for_each(|score| *score = float::exp(*score - best));
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
        Some(scores)
    }

    fn number(&self, hash: u64, word: &str) -> Option<usize> {
        self.numbers.find(hash, |&known| self.words[known as usize] == word).map(|&known| known as usize)
    }

    fn counts_of(&self, number: usize) -> &[(u32, u64)] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.counts[start..self.ends[number]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::category::training::{Trainer, TrainingOptions};
    use dupsift_text::{Pipeline, TextOptions};

    const ALL: TrainingOptions = TrainingOptions { min_df: 1, max_words: 1000, max_held: 10_000 };

    fn trained(documents: &[(&str, &str)]) -> Model {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let mut trainer = Trainer::new(ALL);
        for (class, text) in documents {
            trainer.add(class, &pipeline.analyse(text)).unwrap();
        }
        trainer.finish().unwrap().0
    }

    fn china() -> Model {
        trained(&[
            ("china", "Chinese Beijing Chinese"),
            ("china", "Chinese Chinese Shanghai"),
            ("china", "Chinese Macao"),
            ("other", "Tokyo Japan Chinese"),
        ])
    }

    #[test]
    fn the_example_of_the_book() {
        let model = china();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let (class, posterior) = model.classify(&pipeline.analyse("Chinese Chinese Chinese Tokyo Japan")).unwrap();
        let china: f64 = 0.75 * (6.0_f64 / 14.0).powi(3) * (1.0_f64 / 14.0).powi(2);
        let other: f64 = 0.25 * (2.0_f64 / 9.0).powi(5);
        // These numbers are from the book.
        assert_eq!((format!("{china:.4}"), format!("{other:.4}")), ("0.0003".to_owned(), "0.0001".to_owned()));
        assert_eq!(class, "china");
        assert!((posterior - china / (china + other)).abs() < 1e-12, "{posterior}");
        // Unknown words are ignored, and a document with only unknown words has no class.
        let more = model.classify(&pipeline.analyse("Chinese, London: chinese chinese. Tokyo? Japan!")).unwrap();
        assert_eq!(more, ("china", posterior));
        assert_eq!(model.classify(&pipeline.analyse("London Paris")), None);
        assert_eq!(model.classify(&pipeline.analyse("")), None);
        assert_eq!((model.words(), model.documents()), (6, 4));
        assert_eq!(model.classes().collect::<Vec<_>>(), ["china", "other"]);
    }

    #[test]
    fn of_equal_classes_the_first_by_name_is_taken() {
        let model = trained(&[("b", "x1 common"), ("a", "x2 common"), ("c", "x3 common")]);
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let (class, posterior) = model.classify(&pipeline.analyse("common common")).unwrap();
        assert_eq!(class, "a");
        assert!((posterior - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_table_and_back() {
        let model = china();
        let rows: Vec<ModelRow<'_>> = model.rows().collect();
        assert_eq!(rows[0], ModelRow { class: "china", word: None, count: 3 });
        assert!(rows.contains(&ModelRow { class: "china", word: Some("chinese"), count: 5 }));
        let again = Model::from_rows(rows.iter().copied()).unwrap();
        assert_eq!(again.rows().collect::<Vec<_>>(), rows);
        assert_eq!((again.classes, again.documents, again.total), (model.classes.clone(), 4, model.total));
    }

    #[test]
    fn a_damaged_table_is_an_error() {
        let row = |class, word, count| ModelRow { class, word, count };
        for (rows, why) in [
            (vec![], "no class"),
            (vec![row("a", None, 1)], "no word"),
            (vec![row("a", Some("x"), 1)], "\"a\" of the word \"x\" was not declared"),
            (vec![row("a", None, 0)], "count 0"),
            (vec![row("a", None, u64::MAX)], "add up to"),
            (vec![row("a", None, MOST_COUNTED), row("a", Some("x"), 1)], "row 1 of the model: the count 1"),
            (vec![row("b", None, 1), row("a", None, 1)], "\"a\" is out of order"),
            (vec![row("a", None, 1), row("a", None, 1)], "\"a\" is out of order"),
            (vec![row("a", None, 1), row("a", Some("x"), 1), row("b", None, 1)], "\"b\" comes after words"),
            (vec![row("a", None, 1), row("a", Some("x"), 1), row("a", Some("x"), 1)], "are out of order"),
            (vec![row("a", None, 1), row("a", Some("y"), 1), row("a", Some("x"), 1)], "\"x\" is out of order"),
        ] {
            let error = Model::from_rows(rows.iter().copied()).unwrap_err();
            assert!(error.contains(why), "{error} has no {why}");
        }
        let names: Vec<String> = (0..=MAX_CLASSES).map(|number| format!("{number:05}")).collect();
        let error = Model::from_rows(names.iter().map(|name| row(name, None, 1))).unwrap_err();
        assert!(error.contains("more than 10000 classes"), "{error}");
    }

    proptest! {
        #[test]
        fn any_change_of_a_table_is_an_error_or_a_model(
            rows in proptest::collection::vec(("[abc]{0,2}", proptest::option::of("[xyz]{0,2}"), any::<u64>()), 0..6),
            at in 0_usize..9
        ) {
            let rows: Vec<ModelRow<'_>> = rows
                .iter()
                .map(|(class, word, count)| ModelRow { class, word: word.as_deref(), count: *count })
                .collect();
            let model = china();
            let good: Vec<ModelRow<'_>> = model.rows().collect();
            let mixed = [&good[..at], &rows, &good[at..]].concat();
            for rows in [rows, mixed] {
                if let Ok(model) = Model::from_rows(rows.iter().copied()) {
                    prop_assert_eq!(model.rows().collect::<Vec<_>>(), rows);
                    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
                    if let Some((_, posterior)) = model.classify(&pipeline.analyse("x y z xx chinese")) {
                        prop_assert!(posterior > 0.0 && posterior <= 1.0 + 1e-12);
                    }
                }
            }
        }
    }
}
