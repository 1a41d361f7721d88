//! Provides the foundation of all commands: the memory limit, the stage clock, progress reports, and requests to stop.
//!
//! This module does not depend on pages, algorithms or reports.

pub(crate) mod budget;
pub mod checkpoints;
pub mod clock;
mod course;
pub mod evidence;
pub(crate) mod full_disk;
mod gate;
pub mod interruptible;
pub mod numbers;
pub mod progress;
pub(crate) mod read_limit;
pub mod resources;
pub(crate) mod scratch;
pub mod sketches;
mod thread_times;
pub mod threads;

pub use checkpoints::{Kept, goes_on, kept};
pub use clock::{StageReport, now, stage_at_hand, tell_stages};
pub use course::{Leg, Whole};
pub use progress::{Event, Progress, Sink, Unit};
pub use threads::Engine;
