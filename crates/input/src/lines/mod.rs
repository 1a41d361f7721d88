//! Reads and copies files of lines: JSON lines, separated values, lines of text, and files that are one document.

pub(crate) mod add_to_line;
pub(crate) mod ahead;
pub(crate) mod before_damage;
pub(crate) mod begun;
pub(crate) mod copy;
pub(crate) mod edit_line;
pub(crate) mod format_json;
pub(crate) mod format_lines;
pub(crate) mod format_separated;
pub(crate) mod format_whole;
pub(crate) mod held;
pub(crate) mod items;
pub(crate) mod json_paths;
pub(crate) mod json_row;
pub(crate) mod json_value;
pub(crate) mod jsonl;
pub(crate) mod line;
pub(crate) mod mended;
pub(crate) mod not_json;
pub(crate) mod quotes;
pub(crate) mod separated;
