//! Turns lists and conversations into text, and describes what stands beside the text.

pub mod attached;
pub mod json_walk;
pub mod lists;
pub mod message_fields;
pub mod messages;
