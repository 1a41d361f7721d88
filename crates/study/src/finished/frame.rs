//! Finds out whether a run read a data frame from Python, whose temporary file may be incomplete or gone.

use std::path::Path;

use super::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::job::InputReport;
use dupsift_engine::options::RunOptions;
use dupsift_publish::FRAME;

/// The JSON file in the temporary folder of a data frame that lists the frame columns that the run did not read; `python/dupsift/_frames.py` writes it.
const LEFT_OUT: &str = "left_out.json";

impl Finished {
    /// Returns the file of the data frame that the run read; `None` if it read other files.
    pub fn frame(&self) -> Option<&InputReport> {
        let is_frame = |file: &InputReport| {
            let parent = Path::new(&file.path).parent().and_then(Path::file_name);
            parent.is_some_and(|name| name.to_string_lossy().starts_with(FRAME))
        };
        self.report.inputs.first().filter(|file| self.report.inputs.len() == 1 && is_frame(file))
    }

    /// Returns the error for a data frame whose temporary file was deleted; `None` if the location of the corpus is
    /// given or other files were read.
    pub(super) fn lost_frame(&self) -> Option<Error> {
        let file = self.frame().filter(|_| self.moved.is_none())?;
        if Path::new(&self.report.folder).join(&file.path).exists() {
            return None;
        }
        let shown = self.dir.display();
        Some(Error::usage(format!(
            "{shown} is the result of a run on a data frame, which was not saved; in Python, pass the frame: dupsift.open({:?}, input=frame)",
            shown.to_string()
        )))
    }

    /// Checks that a data frame was saved with all its columns, so that a copy of the corpus is complete.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the columns that the run did not read.
    pub(crate) fn check_columns(&self, options: &RunOptions) -> Result<()> {
        for input in &options.input.paths {
            let Some(folder) = Path::new(input).parent() else { continue };
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let path = folder.join(LEFT_OUT);
            if !name.starts_with(FRAME) || !path.is_file() {
                continue;
            }
            let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
            let names: Vec<String> = serde_json::from_slice(&json)
                .map_err(|error| Error::BadFile { path, why: format!("{error}; expected a list of column names") })?;
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            return Err(Error::usage(format!(
                "the run did not read all columns of the data frame (not read: {}); use result.filter(frame) in Python to filter the frame itself",
                names.join(", ")
            )));
        }
        Ok(())
    }
}
