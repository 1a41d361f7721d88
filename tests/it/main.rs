//! The integration tests, as one binary: what the program does, seen from outside.

mod transcripts;
