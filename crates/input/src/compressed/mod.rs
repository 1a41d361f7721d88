//! Turns the bytes of a file into text: members, compression, encoding, and repacked text.

pub mod coding;
pub mod cut_off;
pub(crate) mod dialect;
mod input;
pub(crate) mod members;
pub mod packing;
pub(crate) mod repacked;
pub(crate) mod repacking;
pub(crate) mod rest;
pub(crate) mod unpack;
pub(crate) mod unpacked_bytes;
mod zstd_frames;
