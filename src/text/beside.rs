//! What a document has beside its text: the columns of a title, keywords and a description, and the counts of its words
//! over the whole corpus.

/// A column beside the text that an algorithm may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The title of the page.
    Title,
    /// Its keywords, as the page itself names them.
    Keywords,
    /// Its description, as the page itself gives it.
    Description,
}

impl Field {
    /// Every field, in the order of the option names.
    pub const ALL: [Field; 3] = [Field::Title, Field::Keywords, Field::Description];

    /// Its name: the default name of the column, and the word in the option `--title-column`.
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
    /// The corpus has no such column, or no algorithm of this run reads it.
    #[default]
    NoColumn,
    /// The column has no value here.
    Null,
    /// The value.
    Text(&'t str),
}

/// The fields of one document, by [`Field`].
pub type FieldValues<'t> = [FieldValue<'t>; Field::ALL.len()];

/// Document and collection frequency of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequency {
    /// Documents of the corpus that contain the word, at least 1.
    pub df: u64,
    /// Its occurrences in the corpus, at least 1.
    pub cf: u64,
}

impl Frequency {
    /// Of a word that was not counted: this document is the only one that has it.
    pub const UNKNOWN: Frequency = Frequency { df: 1, cf: 1 };
}

/// What knows the frequencies of words.
pub trait Frequencies: Sync {
    /// Appends the frequency of each word, given by its hash, in their order; [`Frequency::UNKNOWN`] for unknown ones.
    fn look_up(&self, words: &[u64], out: &mut Vec<Frequency>);
}
