//! Turns the bytes of a file into text: members, compression, encoding, and repacked text.

pub mod coding;
pub(crate) mod dialect;
pub(crate) mod input;
pub(crate) mod members;
pub mod packing;
pub(crate) mod repacked;
pub(crate) mod repacking;
pub(crate) mod rest;
pub(crate) mod unpack;
pub(crate) mod unpacked_bytes;
pub(crate) mod zstd_frames;
