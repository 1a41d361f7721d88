//! Defines the options for a run. [`OPTIONS`] lists the available options, [`Settings`] holds the given values, and [`resolve`] converts
//! these values to [`RunOptions`] for the driver. Options read from the record of a run are converted in the same way.

mod called;
mod corpus;
mod decide;
mod groups;
mod help_groups;
mod keep;
mod machine;
mod purifier;
mod recorded;
mod run_options;
pub mod sample_size;
mod settings;
mod spec;
mod spelling;
mod value;
mod words;

pub use called::ours;
pub(crate) use corpus::DUPLICATES;
pub use corpus::{AddedColumns, CorpusFiles};
pub use decide::Decide;
pub use groups::cut::CutOptions;
pub(crate) use groups::cut::check as check_cut;
pub use groups::removal::RemovalOptions;
pub use groups::{OPTIONS, in_groups, options_of};
pub use help_groups::OF_ONE_VERB;
pub(crate) use keep::Keep;
pub use machine::{cores_allowed, memory_allowed};
pub(crate) use purifier::purify_name;
#[cfg(test)]
pub(crate) use recorded::another;
pub use recorded::{options_again, record};
pub use run_options::RunOptions;
pub use settings::{Settings, resolve};
pub(crate) use spec::Affects;
pub use spec::{Default, OptionSpec, Verb};
pub use spelling::Spelling;
pub use value::{Given, Kind, Value};
pub use words::read_text;
