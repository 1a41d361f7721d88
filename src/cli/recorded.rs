//! The options of a run that is done, from its record: what `evaluate`, `explain` and `report` work with.

use std::path::Path;

use super::args::{Resources, Settings, Typed};
use super::resolve::{Resolved, resolve};
use crate::error::{Error, Result};
use crate::job::{Finished, RunReport};

/// The options under which the output of a run was made, with the folder where it stands now and the resources of today.
///
/// # Errors
/// A record whose options this version does not know; files of words that are not there any more.
pub fn options(finished: &Finished, resources: &Resources) -> Result<Resolved> {
    let mut settings = settings(&finished.report, finished.dir())?;
    settings.out = Some(finished.dir().to_path_buf());
    settings.threads = resources.threads.clone().map(Typed);
    settings.memory = resources.memory.clone().map(Typed);
    settings.work = resources.work.clone();
    let mut resolved = resolve(finished.report.inputs.iter().map(|file| file.path.clone()).collect(), settings)?;
    // The record names every column, given or not; what the run could do without is no error now.
    resolved.options.id_required = false;
    resolved.options.fields_required = Default::default();
    Ok(resolved)
}

fn settings(report: &RunReport, dir: &Path) -> Result<Settings> {
    let typed = report.options.iter().filter(|(name, _)| *name != "input");
    let table: toml::Table = typed
        .map(|(name, value)| (name.clone(), value.parse().map_or_else(|_| value.as_str().into(), toml::Value::Boolean)))
        .collect();
    table.try_into().map_err(|error: toml::de::Error| Error::BadFile {
        path: dir.join("run.json"),
        why: format!("options: {}; expected the options of this version", error.message()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_options_are_the_options() {
        let typed = |name: &str, value: &str| (name.to_string(), value.to_string());
        let report = RunReport {
            options: [
                typed("input", "a b"),
                typed("algorithms", "minhash:bands=20"),
                typed("strict", "true"),
                typed("stem", "false"),
                typed("threads", "3"),
                typed("memory", "1.5 GiB"),
            ]
            .into(),
            ..RunReport::default()
        };
        let settings = settings(&report, Path::new("out")).unwrap();
        assert_eq!((settings.strict, settings.stem), (Some(true), Some(false)));
        let resources = Resources { threads: Some("2".into()), memory: Some("1GiB".into()), ..Resources::default() };
        let resolved = options(&Finished::new(Path::new("out"), report), &resources).unwrap();
        // What the run took is not what the look at it may take.
        assert_eq!((resolved.options.threads, resolved.options.memory), (2, 1 << 30));
        assert_eq!(resolved.options.recipe.algorithms[0].label, "minhash");
        let strange = RunReport { options: [typed("strictt", "true")].into(), ..RunReport::default() };
        assert!(super::settings(&strange, Path::new("out")).unwrap_err().to_string().contains("strictt"));
    }
}
