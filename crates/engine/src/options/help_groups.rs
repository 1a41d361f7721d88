//! The groups in which help shows options, by their headings.

pub const FILES: &str = "Files";
pub const FINDING: &str = "Finding duplicates";
pub const WORDS: &str = "Words";
pub const PAGES: &str = "Pages";
pub const ELEMENTS: &str = "Elements";
pub const REMOVING: &str = "Removing";
pub const RESOURCES: &str = "Resources";
pub const WATCHING: &str = "Watching";
pub const JUDGING: &str = "Judging";
pub const FILTER: &str = "The filter";
pub const ITEMS: &str = "The evaluation set";
