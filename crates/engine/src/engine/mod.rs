//! Provides the foundation of all commands: the memory limit, the stage clock, progress reports, and requests to stop.
//!
//! This module does not depend on pages, algorithms or reports.

// Threads and memory: what a job may use, and how its work is divided.
pub(crate) mod budget;
mod gate;
pub(crate) mod read_limit;
pub mod resources;
pub mod threads;

// Time, progress and requests to stop.
pub mod clock;
mod course;
pub mod interruptible;
pub mod progress;
mod thread_times;

// Values for each document, in temporary files.
pub mod evidence;
pub mod numbers;
pub(crate) mod scratch;
pub mod sketches;

// Saved state.
pub mod checkpoints;
pub(crate) mod full_disk;

pub use checkpoints::{Kept, goes_on, kept};
pub use clock::{StageReport, now, stage_at_hand, tell_stages};
pub use course::{Leg, Whole};
pub use progress::{Event, Progress, Sink, Unit};
pub use threads::Engine;
