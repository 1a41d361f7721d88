//! Defines the data that a document has in addition to its text: the columns for title, keywords and description, and the corpus-wide
//! counts of its words.

/// A column, other than the text, that an algorithm may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The title of the page.
    Title,
    /// The keywords that the page declares.
    Keywords,
    /// The description that the page declares.
    Description,
}

impl Field {
    /// Every field, in the order of the option names.
    pub const ALL: [Field; 3] = [Field::Title, Field::Keywords, Field::Description];

    /// Returns the name of the field, which is the default name of the column and part of its option (`--title-column`).
    pub const fn name(self) -> &'static str {
        match self {
            Field::Title => "title",
            Field::Keywords => "keywords",
            Field::Description => "description",
        }
    }
}

/// The value of one field of one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValue<'t> {
    /// The corpus has no column for the field, or no algorithm of this run reads it.
    #[default]
    NoColumn,
    /// The column has no value in this row.
    Null,
    /// The value of the field.
    Text(&'t str),
}

/// The fields of one document, indexed by [`Field`].
pub type FieldValues<'t> = [FieldValue<'t>; Field::ALL.len()];

/// The document frequency, collection frequency and rank of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequency {
    /// The number of documents in the corpus that contain the word, at least 1.
    pub df: u64,
    /// The number of occurrences of the word in the corpus, at least 1.
    pub cf: u64,
    /// The rank of the word among all words of the corpus, with rare words first; `u64::MAX` for a word that was not counted.
    pub rank: u64,
}

impl Frequency {
    /// The frequency of a word that was not counted. The word is treated as if only this document contained it.
    pub const UNKNOWN: Frequency = Frequency { df: 1, cf: 1, rank: u64::MAX };

    /// The maximum number of documents (40 bits) and the maximum number of occurrences (48 bits) in a word table.
    pub const MOST: (u64, u64) = ((1 << 40) - 1, (1 << 48) - 1);

    /// Packs the frequency into 16 bytes; a rank has 40 bits.
    #[inline]
    pub fn packed(self) -> [u64; 2] {
        [self.df | self.rank << 40, self.cf | self.rank >> 24 << 48]
    }

    /// Unpacks the output of [`Frequency::packed`].
    #[inline]
    pub fn unpacked([low, high]: [u64; 2]) -> Frequency {
        let rank = low >> 40 | high >> 48 << 24;
        let rank = if rank == Self::MOST.0 { u64::MAX } else { rank };
        Frequency { df: low & Self::MOST.0, cf: high & Self::MOST.1, rank }
    }
}

/// A source of word frequencies.
pub trait Frequencies: Sync {
    /// Appends the frequencies of the words with these hashes, in the same order; [`Frequency::UNKNOWN`] for an unknown word.
    fn look_up(&self, words: &[u64], out: &mut Vec<Frequency>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_come_back_from_sixteen_bytes() {
        let (most_df, most_cf) = Frequency::MOST;
        for df in [1, 77, most_df] {
            for cf in [1, 99, most_cf] {
                for rank in [0, 5, 1 << 24, 0xab_cdef_0123, most_df - 1, u64::MAX] {
                    let frequency = Frequency { df, cf, rank };
                    assert_eq!(Frequency::unpacked(frequency.packed()), frequency);
                }
            }
        }
    }
}
