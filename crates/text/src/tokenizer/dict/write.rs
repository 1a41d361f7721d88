//! Writes the tables of a cutter as bytes, which the build script embeds in the program.

use bytemuck::NoUninit;

use super::best_path::Cutter;
use super::letters::{Letters, joins};
use super::tables::ALIGNMENT;
use super::unknown::Unknown;
use super::vocabulary::Vocabulary;
use super::words::Words;

/// Writes tables in the format that `tables.rs` reads.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn list<T: NoUninit>(&mut self, list: &[T]) {
        let bytes = bytemuck::cast_slice(list);
        self.bytes.extend((bytes.len() as u64).to_ne_bytes());
        self.align();
        self.bytes.extend_from_slice(bytes);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}

impl Cutter {
    /// Returns the tables of the cutter, followed by the dictionary lines whose words are in no table.
    pub(crate) fn write(&self, dictionary: &str) -> Vec<u8> {
        let mut tables = Writer::default();
        tables.list(&[self.unseen]);
        tables.list(&self.weights);
        tables.list(&self.ones);
        self.letters.write(&mut tables);
        self.words.write(&mut tables);
        self.unknown.write(&mut tables);
        tables.list(apart(dictionary).as_bytes());
        tables.bytes
    }
}

/// Returns the word and the frequency of each line whose word contains a character that never joins other characters.
fn apart(dictionary: &str) -> String {
    let vocabulary = Vocabulary::new(dictionary);
    let words = vocabulary.words().filter(|(word, _)| !word.chars().all(joins));
    words.map(|(word, frequency)| format!("{word} {frequency}\n")).collect()
}

impl Letters {
    fn write(&self, tables: &mut Writer) {
        tables.list(&[self.covered, self.other]);
        tables.list(&self.numbers);
    }
}

impl Words {
    fn write(&self, tables: &mut Writer) {
        for by_number in [&self.pairs_of, &self.bases_of, &self.others, &self.pairs, &self.bases] {
            tables.list(by_number);
        }
        tables.list(&self.rows);
        tables.list(&self.places);
    }
}

impl Unknown {
    fn write(&self, tables: &mut Writer) {
        tables.list(&self.first);
        tables.list(&self.follows);
        tables.list(&self.seen);
    }
}
