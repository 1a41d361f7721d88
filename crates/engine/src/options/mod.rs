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
mod settings;
mod spec;
mod spelling;
mod value;
mod words;

pub use called::ours;
pub use corpus::{AddedColumns, CorpusFiles};
pub use decide::Decide;
pub use groups::cut::{CutOptions, check as check_cut};
pub use groups::{OPTIONS, in_groups, options_of};
pub use help_groups::OF_ONE_VERB;
pub use keep::{Keep, KeepKey};
pub use machine::{cores_allowed, memory_allowed};
pub use purifier::purify_name;
#[cfg(test)]
pub(crate) use recorded::another;
pub use recorded::{options_again, record};
pub use run_options::RunOptions;
pub use settings::{Settings, resolve};
pub use spec::{Affects, Default, OptionSpec, Verb};
pub use spelling::{OTHER_FLAGS, Spelling};
pub use value::{Given, Kind, Value};
pub use words::read_text;
