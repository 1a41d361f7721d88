//! Defines the options for a run.

use super::groups::columns::ColumnOptions;
use super::groups::cut::CutOptions;
use super::groups::duplicates::DuplicateOptions;
use super::groups::guards::GuardOptions;
use super::groups::incremental::IncrementalOptions;
use super::groups::input::InputOptions;
use super::groups::output::OutputOptions;
use super::groups::pages::PageOptions;
use super::groups::removal::RemovalOptions;
use super::groups::resources::ResourceOptions;
use super::groups::sampling::SamplingOptions;
use super::groups::text::WordLists;
use super::purifier::purify_name;
use dupsift_algorithms::recipe::Recipe;
use dupsift_input::{Coding, Taking, TextFiles};
use dupsift_text::Pipeline;

/// Holds all options for a run, in groups. [`RunOptions::default`] sets none of the options, not even to the defaults of the specifications;
/// [`resolve`](super::resolve) does.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// The input files, and how they are read.
    pub input: InputOptions,
    /// The columns that are read.
    pub columns: ColumnOptions,
    /// The documents that are read.
    pub sampling: SamplingOptions,
    /// How pages are read.
    pub pages: PageOptions,
    /// The algorithms and the options for text processing.
    pub recipe: Recipe,
    /// The word lists of the recipe.
    pub words: WordLists,
    /// The limits of pairs, and the statistics.
    pub duplicates: DuplicateOptions,
    /// The documents that are kept and removed.
    pub removal: RemovalOptions,
    /// The passages to cut from kept documents.
    pub cut: CutOptions,
    /// The bounds of a plausible result.
    pub guards: GuardOptions,
    /// The output folder and its parts.
    pub output: OutputOptions,
    /// The earlier documents against which the corpus is matched.
    pub incremental: IncrementalOptions,
    /// The threads, the memory and the temporary files.
    pub resources: ResourceOptions,
}

/// The minimum memory in bytes that one thread may use for decompression, which is enough for the usual Zstandard levels.
const LEAST_WINDOW: u64 = 8 << 20;
/// The number of bytes that a Parquet footer may occupy in addition to half of the memory limit.
const FOOTER_BESIDES: u64 = 64 << 20;

impl RunOptions {
    /// Returns how the input files are read.
    pub fn taking(&self) -> Taking {
        // The threads share a quarter of the memory limit, because all of them may decompress at the same time.
        let window_bytes = (self.resources.memory / 4 / self.resources.threads.max(1) as u64).max(LEAST_WINDOW);
        let (encoding, separator) = (self.input.encoding, self.input.separator);
        // Only one large footer is in memory at a time. The footer may also use part of the memory that is allowed in addition to the
        // limit.
        let footer_bytes = self.resources.memory / 2 + FOOTER_BESIDES;
        let coding =
            Coding { encoding, separator, quoting: self.input.quotes, window_bytes, footer_bytes, ..Coding::default() };
        let text_files = match (self.input.whole_files, self.input.text_lines) {
            (true, _) => TextFiles::Whole,
            (false, true) => TextFiles::Lines,
            (false, false) => TextFiles::Skipped,
        };
        Taking { text_files, coding, follow_links: self.input.follow_links }
    }

    /// Returns a hash of everything that signatures depend on, in hexadecimal. If the corpus contains pages, the hash also covers how
    /// their text is extracted.
    pub fn identity(&self, pipeline: &Pipeline, pages: bool) -> String {
        let purify = pages.then(|| purify_name(&self.pages.purify));
        format!("{:016x}", self.recipe.identity(pipeline, purify.as_deref()))
    }

    /// Returns whether every document may appear in a table, not only the documents in pairs.
    pub(crate) fn names_all(&self) -> bool {
        self.output.corpus.annotate || self.cut.what.is_some()
    }
}
