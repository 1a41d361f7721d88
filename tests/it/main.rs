//! The integration tests, as one binary: what the program does, seen from outside.

mod allocations;
mod bad_input;
mod brute;
mod category;
mod compare;
mod consumers;
mod cost;
mod damage;
mod determinism;
mod evaluate;
mod explain;
mod floors;
mod golden;
mod hot_key;
mod invariants;
mod kit;
mod margin;
mod oracle;
mod pages;
mod relations;
mod report;
mod scripts;
mod stream;
mod titles;
mod transcripts;
mod warc;
