//! The steps of a run: pure functions over rows that open no files and start no threads.

// Planning: which passes a run makes.
pub mod passes;
pub mod plan;

// Reading: what is recorded and counted of every document, and what is learned from all of them.
pub mod copies;
pub mod count;
pub mod headings;
pub mod learn;
pub mod note;
pub mod parts;
pub mod view;

// Signing: the rows of each document, and those among them that can match another row.
pub mod prefilter;
pub mod sign;

// Pairing: from rows with equal keys to pairs of documents.
pub mod classify;
pub mod expand;
pub mod group;
pub mod groups;
pub mod margin;
pub mod merge;
pub mod nearest;
pub mod next_best;
pub mod verify;

// Deciding: from pairs to clusters, kept documents and guards.
pub mod choose;
pub mod clusters;
pub mod connect;
pub mod guard;
pub mod survive;
