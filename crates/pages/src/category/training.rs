//! Trains category models with integer counts, so that neither the order of documents nor the number of threads affects the model.
//!
//! Memory is limited in two ways. While documents are added, at most [`TrainingOptions::max_held`] counts are held in memory. If there are
//! more counts, half of the words, selected by a fixed hash, are dropped, then half of the remaining words, and so on. The counts of the
//! remaining words cover all documents, starting with the first one, and which words remain depends only on the documents. At the end, the
//! model keeps the words that occur in at least `min_df` documents. If there are more than `max_words` such words, the model keeps the
//! words that occur in the most documents, with ties broken by code point order. [`LeftOut`] contains counts of the dropped words.

use std::collections::{BTreeMap, HashMap};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::{MAX_CLASSES, Model, ModelRow};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::mix64;
use dupsift_text::Analysis;

/// The limits of a model and of its training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainingOptions {
    /// The minimum number of documents in which a word must occur; at least 1.
    pub min_df: u64,
    /// The maximum number of words in the model.
    pub max_words: usize,
    /// The maximum number of counts held during training: one per word and one for each class that contains the word. A count takes about
    /// 60 bytes.
    pub max_held: usize,
}

impl Default for TrainingOptions {
    fn default() -> TrainingOptions {
        TrainingOptions { min_df: 2, max_words: 1_000_000, max_held: 8 << 20 }
    }
}

/// Counts of the words that a model does not include.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of words that occur in fewer than `min_df` documents.
    pub rare: u64,
    /// The number of words dropped because of `max_words`.
    pub beyond: u64,
    /// The number of times that the set of words was halved. After n halvings, about one in 2^n words is counted; the other fields do not
    /// include words that are not counted.
    pub halvings: u32,
    /// The number of word occurrences in the documents, excluding stop words.
    pub occurrences: u64,
    /// The number of occurrences of words that the model includes.
    pub kept: u64,
}

/// A word and its counts.
struct Withheld {
    hash: u64,
    word: Box<str>,
    df: u64,
    /// The class numbers in the order in which they first occurred, each with its count.
    counts: Vec<(u32, u64)>,
}

/// Counts the words of labeled documents.
pub struct Trainer {
    options: TrainingOptions,
    /// The names and document counts of the classes, in the order in which the classes first occurred.
    classes: Vec<(String, u64)>,
    numbers: HashMap<String, u32>,
    words: HashTable<Withheld>,
    held: usize,
    halvings: u32,
    occurrences: u64,
}

impl Trainer {
    /// Returns a trainer to which no documents have been added.
    pub fn new(options: TrainingOptions) -> Trainer {
        Trainer {
            options,
            classes: Vec::new(),
            numbers: HashMap::new(),
            words: HashTable::new(),
            held: 0,
            halvings: 0,
            occurrences: 0,
        }
    }

    /// Adds a document of this class.
    ///
    /// # Errors
    /// Returns an error if there are more than [`MAX_CLASSES`] classes.
    pub fn add(&mut self, class: &str, document: &Analysis<'_>) -> Result<()> {
        let class = self.class(class)?;
        self.classes[class as usize].1 += 1;
        for counted in document.counted().iter().filter(|counted| !counted.word.stop) {
            let (hash, tf) = (counted.word.hash, u64::from(counted.tf));
            self.occurrences += tf;
            if self.is_counted(hash) {
                self.count(hash, document.word(&counted.word), 1, &[(class, tf)]);
            }
        }
        self.shrink();
        Ok(())
    }

    /// Adds the counts of another trainer with the same options.
    ///
    /// # Errors
    /// Returns an error if there are more than [`MAX_CLASSES`] classes.
    pub fn merge(&mut self, other: Trainer) -> Result<()> {
        debug_assert_eq!(self.options, other.options);
        let mut numbers = Vec::with_capacity(other.classes.len());
        for (name, documents) in &other.classes {
            let number = self.class(name)?;
            self.classes[number as usize].1 += documents;
            numbers.push(number);
        }
        self.occurrences += other.occurrences;
        self.halvings = self.halvings.max(other.halvings);
        self.drop_uncounted();
        for mut held in other.words {
            if self.is_counted(held.hash) {
                held.counts.iter_mut().for_each(|(class, _)| *class = numbers[*class as usize]);
                self.count(held.hash, &held.word, held.df, &held.counts);
            }
        }
        self.shrink();
        Ok(())
    }

    /// Returns the number of documents added.
    pub fn documents(&self) -> u64 {
        self.classes.iter().map(|(_, documents)| documents).sum()
    }

    /// Returns the model and the counts of words that the model does not include.
    ///
    /// # Errors
    /// Returns an error if there are no documents, or if the model would contain no words.
    pub fn finish(self) -> Result<(Model, LeftOut)> {
        let TrainingOptions { min_df, max_words, .. } = self.options;
        let mut left_out = LeftOut { halvings: self.halvings, occurrences: self.occurrences, ..LeftOut::default() };
        let all = self.words.len();
        let mut words: Vec<Withheld> = self.words.into_iter().filter(|held| held.df >= min_df).collect();
        left_out.rare = (all - words.len()) as u64;
        words.sort_unstable_by(|a, b| b.df.cmp(&a.df).then_with(|| a.word.cmp(&b.word)));
        left_out.beyond = words.len().saturating_sub(max_words) as u64;
        words.truncate(max_words);
        words.sort_unstable_by(|a, b| a.word.cmp(&b.word));
        // The classes sorted by name, each with its index.
        let sorted: BTreeMap<&str, u32> =
            (0..).zip(&self.classes).map(|(number, (name, _))| (name.as_str(), number)).collect();
        let mut places = vec![0_u32; sorted.len()];
        (0..).zip(sorted.values()).for_each(|(place, &number)| places[number as usize] = place);
        for held in &mut words {
            held.counts.sort_unstable_by_key(|(class, _)| places[*class as usize]);
            left_out.kept += held.counts.iter().map(|(_, count)| count).sum::<u64>();
        }
        let classes = sorted.iter().map(|(&class, &number)| ModelRow {
            class,
            word: None,
            count: self.classes[number as usize].1,
        });
        let names = &self.classes;
        let rows = words.iter().flat_map(|held| {
            held.counts.iter().map(|&(class, count)| ModelRow {
                class: &names[class as usize].0,
                word: Some(&held.word),
                count,
            })
        });
        match Model::from_rows(classes.chain(rows)) {
            Ok(model) => Ok((model, left_out)),
            Err(_) if self.classes.is_empty() => Err(Error::usage("there are no labeled documents to train on")),
            Err(_) if words.is_empty() => {
                Err(Error::usage(format!("cannot train: no word occurs in {min_df} or more labeled documents")))
            }
            Err(why) => Err(Error::usage(format!("cannot train: {why}"))),
        }
    }

    fn class(&mut self, name: &str) -> Result<u32> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        if self.classes.len() == MAX_CLASSES {
            return Err(Error::usage(format!(
                "there are more than {MAX_CLASSES} different labels; is this the right column?"
            )));
        }
        let number = self.classes.len() as u32;
        self.classes.push((name.to_owned(), 0));
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }

    fn count(&mut self, hash: u64, word: &str, df: u64, counts: &[(u32, u64)]) {
        let held = match self.words.entry(hash, |held| held.hash == hash && *held.word == *word, |held| held.hash) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                self.held += 1;
                entry.insert(Withheld { hash, word: word.into(), df: 0, counts: Vec::new() }).into_mut()
            }
        };
        held.df += df;
        for &(class, count) in counts {
            match held.counts.iter_mut().find(|known| known.0 == class) {
                Some(known) => known.1 += count,
                None => {
                    self.held += 1;
                    held.counts.push((class, count));
                }
            }
        }
    }

    /// Returns whether a word is still counted.
    fn is_counted(&self, hash: u64) -> bool {
        // The hash is mixed because the hash table uses the unmixed bits to select slots.
        mix64(hash).leading_zeros() >= self.halvings
    }

    /// Halves the set of words repeatedly until the number of counts is within the limit.
    fn shrink(&mut self) {
        while self.held > self.options.max_held && self.halvings < u64::BITS {
            self.halvings += 1;
            self.drop_uncounted();
        }
    }

    fn drop_uncounted(&mut self) {
        let halvings = self.halvings;
        self.words.retain(|held| mix64(held.hash).leading_zeros() >= halvings);
        self.held = self.words.iter().map(|held| 1 + held.counts.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    type Outcome = (Vec<(String, Option<String>, u64)>, LeftOut);

    fn outcome(trainer: Trainer) -> std::result::Result<Outcome, String> {
        let (model, left_out) = trainer.finish().map_err(|error| error.to_string())?;
        let rows = model.rows().map(|row| (row.class.to_owned(), row.word.map(str::to_owned), row.count)).collect();
        Ok((rows, left_out))
    }

    fn trainer<'d>(options: TrainingOptions, documents: impl IntoIterator<Item = &'d (String, String)>) -> Trainer {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let mut trainer = Trainer::new(options);
        for (class, text) in documents {
            trainer.add(class, &pipeline.analyse(text)).unwrap();
        }
        trainer
    }

    fn owned(documents: &[(&str, &str)]) -> Vec<(String, String)> {
        documents.iter().map(|&(class, text)| (class.to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn what_is_left_out_is_reported() {
        let documents = owned(&[("b", "x y y"), ("a", "x y"), ("a", "x z once"), ("a", "z"), ("a", "")]);
        let options = TrainingOptions { min_df: 2, max_words: 2, max_held: 100 };
        let (rows, left_out) = outcome(trainer(options, &documents)).unwrap();
        let row = |class: &str, word: Option<&str>, count| (class.to_owned(), word.map(str::to_owned), count);
        // The word x is in three documents; y and z are in two documents each, and y precedes z in code point order.
        let expected = [
            row("a", None, 4),
            row("b", None, 1),
            row("a", Some("x"), 2),
            row("b", Some("x"), 1),
            row("a", Some("y"), 1),
            row("b", Some("y"), 2),
        ];
        assert_eq!(rows, expected);
        assert_eq!(left_out, LeftOut { rare: 1, beyond: 1, halvings: 0, occurrences: 9, kept: 6 });
    }

    #[test]
    fn nothing_to_learn_from_is_an_error() {
        let none = outcome(trainer(TrainingOptions::default(), &[])).unwrap_err();
        assert_eq!(none, "there are no labeled documents to train on");
        let documents = owned(&[("a", "one"), ("b", "two")]);
        let rare = outcome(trainer(TrainingOptions::default(), &documents)).unwrap_err();
        assert_eq!(rare, "cannot train: no word occurs in 2 or more labeled documents");
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let mut trainer = Trainer::new(TrainingOptions::default());
        for number in 0..MAX_CLASSES {
            trainer.add(&number.to_string(), &pipeline.analyse("x")).unwrap();
        }
        let error = trainer.add("one more", &pipeline.analyse("x")).unwrap_err().to_string();
        assert!(error.contains("more than 10000 different labels"), "{error}");
    }

    #[test]
    fn stop_words_of_the_user_teach_nothing() {
        let pipeline =
            Pipeline::new(&TextOptions { stop_words: vec!["The".into()], ..TextOptions::default() }).unwrap();
        let mut trainer = Trainer::new(TrainingOptions { min_df: 1, ..TrainingOptions::default() });
        trainer.add("a", &pipeline.analyse("the cat and the dog")).unwrap();
        let (model, left_out) = trainer.finish().unwrap();
        assert_eq!((model.words(), left_out.occurrences), (3, 3));
        assert!(model.classify(&pipeline.analyse("the")).is_none());
    }

    #[test]
    fn held_counts_stay_below_their_bound_and_what_stays_is_whole() {
        let documents: Vec<(String, String)> = (0..200_u64)
            .map(|number| {
                let words: Vec<String> = (0..30).map(|word| format!("w{}", (number * 7 + word * word) % 900)).collect();
                (format!("c{}", number % 5), words.join(" "))
            })
            .collect();
        let all = TrainingOptions { min_df: 1, max_words: 10_000, max_held: 100_000 };
        let (whole, _) = outcome(trainer(all, &documents)).unwrap();
        let bounded = trainer(TrainingOptions { max_held: 600, ..all }, &documents);
        assert!(bounded.held <= 600 && bounded.held > 200);
        let (part, left_out) = outcome(bounded).unwrap();
        assert!(left_out.halvings > 0 && left_out.kept < left_out.occurrences);
        assert_eq!(left_out.occurrences, 6000);
        assert!(part.len() < whole.len() && part.iter().all(|row| whole.contains(row)));
    }

    proptest! {
        #[test]
        fn neither_order_nor_threads_show(
            documents in proptest::collection::vec(("[ab]|класс", "[a-h]{1,2}( [a-h]{1,2}){0,9}"), 1..14),
            cuts in (0_usize..14, 0_usize..14),
            turn in 0_usize..14,
            max_held in 1_usize..120,
            max_words in 1_usize..30,
            min_df in 1_u64..3
        ) {
            let options = TrainingOptions { min_df, max_words, max_held };
            let expected = outcome(trainer(options, &documents));
            let mut turned: Vec<(String, String)> = documents.iter().rev().cloned().collect();
            turned.rotate_left(turn % documents.len());
            prop_assert_eq!(&outcome(trainer(options, &turned)), &expected);
            let first = cuts.0.min(cuts.1).min(turned.len());
            let second = cuts.0.max(cuts.1).min(turned.len());
            let mut merged = trainer(options, &turned[second..]);
            merged.merge(trainer(options, &turned[..first])).unwrap();
            merged.merge(trainer(options, &turned[first..second])).unwrap();
            prop_assert_eq!(merged.documents(), documents.len() as u64);
            prop_assert_eq!(&outcome(merged), &expected);
        }
    }
}
