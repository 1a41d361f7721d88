//! Turns the bytes of a file into text: members, compression, encoding, and repacked text.

pub(crate) mod coding;
mod input;
pub(crate) mod members;
pub(crate) mod packing;
pub(crate) mod repacked;
pub(crate) mod repacking;
pub(crate) mod rest;
pub(crate) mod unpack;
pub(crate) mod unpacked_bytes;
mod zstd_frames;
