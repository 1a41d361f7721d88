//! Provides thin Python wrappers around the library. The Python code of the package is in `python/dupsift`.

mod call;
mod columns;
mod contaminated;
mod error;
mod facts;
mod frame;
mod logging;
mod rows;
mod seen;
mod settings;
mod spark;
mod stream_in;
mod stream_out;
mod table;
mod verbs;

use pyo3::prelude::*;
use pyo3::types::PySequence;

/// The extension module of the `dupsift` package.
#[pymodule]
fn _dupsift(module: &Bound<'_, PyModule>) -> PyResult<()> {
    dupsift_core::guard::quiet();
    call::set_up();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<columns::Column>()?;
    // Polars accepts a `collections.abc.Sequence` of booleans as a mask.
    PySequence::register::<columns::Column>(module.py())?;
    module.add_class::<table::Table>()?;
    module.add_class::<seen::Seen>()?;
    module.add_class::<frame::FrameFolder>()?;
    module.add_function(wrap_pyfunction!(call::leave, module)?)?;
    module.add_function(wrap_pyfunction!(columns::kept_mask, module)?)?;
    module.add_function(wrap_pyfunction!(frame::write, module)?)?;
    module.add_function(wrap_pyfunction!(frame::write_texts, module)?)?;
    module.add_function(wrap_pyfunction!(frame::frame_columns, module)?)?;
    module.add_function(wrap_pyfunction!(table::head, module)?)?;
    module.add_function(wrap_pyfunction!(settings::options, module)?)?;
    module.add_function(wrap_pyfunction!(facts::algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(facts::presets, module)?)?;
    module.add_function(wrap_pyfunction!(facts::sign, module)?)?;
    module.add_function(wrap_pyfunction!(facts::similarity, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::run, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::compare, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::purify, module)?)?;
    module.add_function(wrap_pyfunction!(contaminated::contaminated_run, module)?)?;
    module.add_function(wrap_pyfunction!(contaminated::contaminated_summary, module)?)?;
    module.add_function(wrap_pyfunction!(contaminated::contaminated_mask, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::explain, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::show, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::rules, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::sample, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::accept, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::reject, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::columns_read, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::is_input, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::survivors, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::apply, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::summary, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::main, module)?)?;
    module.add_class::<spark::SparkCorpus>()?;
    module.add_class::<spark::SparkKnown>()?;
    module.add_class::<spark::SparkBlocks>()?;
    module.add_function(wrap_pyfunction!(spark::spark_run, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_map, module)?)?;
    module.add_function(wrap_pyfunction!(spark::spark_reduce, module)?)?;
    Ok(())
}
