//! Reads and copies files of lines: JSON lines, separated values, lines of text, and files that are one document.

mod add_to_line;
mod ahead;
mod before_damage;
mod begun;
mod copy;
mod edit_line;
pub(crate) mod format_json;
pub(crate) mod format_lines;
pub(crate) mod format_separated;
pub(crate) mod format_whole;
mod held;
mod items;
mod json_paths;
mod json_row;
mod json_value;
pub(crate) mod jsonl;
pub(crate) mod line;
mod mended;
mod not_json;
mod quotes;
mod separated;
