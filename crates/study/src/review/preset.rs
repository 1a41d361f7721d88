//! Finds the preset of a run, and the option for a different threshold.

use dupsift_algorithms::recipe::Recipe;
use dupsift_algorithms::recipe::threshold::with_threshold;
use dupsift_algorithms::recipe::{DEFAULT_PRESET, PRESETS, Preset};
use dupsift_engine::job::run_report::RunReport;

/// An example of a threshold that is above the thresholds of all presets.
const HIGHER: f64 = 0.85;

/// Returns the preset that consists of these algorithms.
pub(crate) fn preset(report: &RunReport) -> Option<&'static str> {
    let same = |preset: &&Preset| {
        let parsed = Recipe::parse_algorithms(preset.algorithms).unwrap_or_default();
        parsed.iter().map(ToString::to_string).eq(report.recipe.algorithms.iter().cloned())
    };
    PRESETS.iter().find(same).map(|preset| preset.name)
}

/// Returns the option for the default preset with a higher threshold, as an example; `None` for any other preset. Other presets verify with
/// their own thresholds or have additional options.
pub(crate) fn with_higher_threshold(name: &str) -> Option<String> {
    let preset = Some(DEFAULT_PRESET).filter(|preset| preset.name == name)?;
    Some(format!("`algorithms={}`", with_threshold(Some(preset.algorithms), HIGHER).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::RecipeReport;

    #[test]
    fn a_preset_is_known_by_its_algorithms() {
        let of = |algorithms: &str| {
            let algorithms =
                Recipe::parse_algorithms(algorithms).expect("a recipe").iter().map(ToString::to_string).collect();
            preset(&RunReport {
                recipe: RecipeReport { algorithms, ..RecipeReport::default() },
                ..RunReport::default()
            })
        };
        assert_eq!(of(PRESETS[0].algorithms), Some(PRESETS[0].name));
        assert!(PRESETS.iter().all(|preset| of(preset.algorithms).is_some()));
        assert_eq!(of("tf,minhash:rows=3"), None);
    }

    #[test]
    fn the_default_with_another_threshold_is_typed_out() {
        let told = with_higher_threshold(PRESETS[0].name).unwrap_or_default();
        assert!(told.contains("exact,versions:threshold=0.85"), "{told}");
        assert_eq!((with_higher_threshold("none"), with_higher_threshold("strict")), (None, None));
    }
}
