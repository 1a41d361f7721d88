//! `--preset`: recipes for different purposes, each a list of algorithms that you could also type.

use crate::algorithm::by_name;
use dupsift_core::error::{Error, Result, did_you_mean};

/// Describes a named recipe.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name of the preset.
    pub name: &'static str,
    /// The algorithms, in the syntax of `--algorithms`.
    pub algorithms: &'static str,
    /// The options of the preset, as you would type them. An explicit option overrides the value in the preset.
    pub options: &'static [(&'static str, &'static str)],
    /// The purpose of the preset.
    pub summary: &'static str,
}

/// The default preset.
pub const DEFAULT_PRESET: &Preset = &PRESETS[0];

/// Every preset.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "balanced",
        algorithms: "exact,versions",
        options: &[],
        summary: "Removes exact copies, versions and contained texts; keeps pages that share only a template",
    },
    Preset {
        name: "strict",
        algorithms: "exact,minhash:bands=9,rows=13,verify=jaccard:0.9",
        options: &[],
        summary: "Removes exact copies and texts that share 90% of their 5-word shingles (in Chinese: 5 characters)",
    },
    Preset {
        name: "broad",
        algorithms: "exact,versions,minhash:bands=20,rows=5,verify=jaccard:0.5",
        options: &[],
        summary: "Like balanced, but also finds texts that share half of their 5-word shingles, even if that half is a template",
    },
    Preset {
        name: "fineweb",
        algorithms: "minhash:preset=fineweb",
        options: &[("remove-if", "pair"), ("chain", "remove")],
        summary: "Works like FineWeb, for comparisons: keeps one text per cluster, even if the removed texts contain more",
    },
];

/// Returns the preset with this name.
///
/// # Errors
/// Returns an error for an unknown name. The error suggests the most similar name and lists all names.
pub fn preset(name: &str) -> Result<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        if by_name(name).is_ok() {
            let typed = format!("`algorithms={name}`");
            return Error::wrong("preset", format_args!("{name} is an algorithm; expected {typed}"));
        }
        let names = PRESETS.iter().map(|preset| preset.name);
        let hint = did_you_mean(name, names.clone());
        let names = names.collect::<Vec<_>>().join(", ");
        Error::wrong("preset", format_args!("there is no preset {name:?}{hint}; available: {names}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;

    #[test]
    fn every_preset_is_a_recipe() {
        for known in PRESETS {
            assert!(Recipe::parse_algorithms(known.algorithms).is_ok(), "{}", known.name);
            assert_eq!(preset(known.name).unwrap().algorithms, known.algorithms);
        }
        assert_eq!(DEFAULT_PRESET.name, "balanced");
        assert!(
            preset("minhash")
                .unwrap_err()
                .to_string()
                .ends_with("minhash is an algorithm; expected `algorithms=minhash`")
        );
        assert!(preset("fineweb2").unwrap_err().to_string().contains("did you mean \"fineweb\"?"));
    }
}
