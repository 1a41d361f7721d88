//! Defines the options for a run. [`OPTIONS`] lists the available options, [`Settings`] holds the given values, and [`resolve`] converts
//! these values to [`RunOptions`] for the driver. Options read from the record of a run are converted in the same way.

mod called;
mod corpus;
mod cut;
mod help_groups;
mod machine;
mod purifier;
mod recorded;
mod run_options;
mod settings;
mod spec;
mod spelling;
mod table;
mod value;
mod words;

pub use called::ours;
pub use corpus::{AddedColumns, CorpusFiles};
pub use cut::{CutOptions, check as check_cut};
pub use help_groups::OF_ONE_VERB;
pub use machine::cores_allowed;
pub(crate) use machine::memory_allowed;
pub use purifier::purify_name;
pub use recorded::{options_again, record};
pub use run_options::{Decide, Keep, KeepKey, RunOptions};
pub use settings::{Settings, resolve};
pub use spec::{Default, OptionSpec, Verb};
pub use spelling::{OTHER_FLAGS, Spelling};
pub use table::{OPTIONS, in_groups, options_of};
pub use value::{Given, Kind, Value};
pub use words::read_text;
