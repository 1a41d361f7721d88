//! Checks the given options, and derives the run options from them.
//!
//! This module reports every error that can be detected before an input is opened, so a typo costs you a second, not hours. The
//! driver checks the settings that depend on the inputs, such as columns and the minimum memory.

use std::collections::BTreeMap;
use std::path::Path;

use super::spec::{OptionSpec, Verb};
use super::value::{Given, Value};
use super::{Keep, OPTIONS, RunOptions, options_of};
use dupsift_algorithms::recipe::entries::names_preset;
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_algorithms::recipe::threshold::with_threshold;
use dupsift_algorithms::recipe::{Chosen, Preset, Recipe, preset};
use dupsift_core::error::{Error, Result, did_you_mean};

/// The pairs of mutually exclusive options, each with a description of what both options do.
const RIVALS: &[(&str, &str, &str)] = &[
    ("text-column", "html-column", "name the column to read"),
    ("whole-files", "text-lines", "define what a document is in text files"),
    ("algorithms", "preset", "choose the algorithms"),
    ("threshold", "preset", "set thresholds"),
    ("train", "model", "choose how pages are processed"),
    ("train", "stats", "choose how pages are processed"),
    ("train", "columns", "choose how pages are processed"),
    ("train", "keep-html", "choose how pages are processed"),
];

/// Holds the checked values of the options that were given.
#[derive(Clone, Debug, std::default::Default, PartialEq)]
pub struct Settings {
    values: BTreeMap<&'static str, (Value, bool)>,
}

impl Settings {
    /// Sets a value that was given explicitly.
    ///
    /// # Errors
    /// Returns an error if the option does not accept the value.
    pub fn give(&mut self, option: &'static OptionSpec, value: &Value) -> Result<()> {
        self.put(option, value, true)
    }

    /// Sets a value from the record of a run.
    ///
    /// # Errors
    /// See [`Settings::give`].
    pub fn recall(&mut self, option: &'static OptionSpec, value: &Value) -> Result<()> {
        self.put(option, value, false)
    }

    /// Sets the value of an option by its name, which may be spelled with `_` or `-`.
    ///
    /// # Errors
    /// See [`Settings::give`]; also returns an error if the command has no option with this name.
    pub fn give_by_name(&mut self, verb: Verb, name: &str, value: &Value) -> Result<()> {
        let dashed = name.replace('_', "-");
        let option = options_of(verb).find(|option| option.name == dashed).ok_or_else(|| {
            let known: Vec<String> = options_of(verb).map(|option| option.name.replace('-', "_")).collect();
            let hint = did_you_mean(name, known.iter().map(String::as_str));
            Error::usage(format!("there is no option {name:?}{hint}; available: {}", known.join(", ")))
        })?;
        self.give(option, value)
    }

    fn put(&mut self, option: &'static OptionSpec, value: &Value, typed: bool) -> Result<()> {
        self.values.insert(option.name, (option.check(value)?, typed));
        Ok(())
    }

    /// Returns these settings, completed with values from `other`. A value is not taken from `other` if the option or a mutually exclusive
    /// option is already set.
    pub fn or(mut self, other: Settings) -> Settings {
        let taken = |name: &str| self.has(name) || rivals(name).any(|rival| self.has(rival));
        let more: Vec<_> = other.values.into_iter().filter(|(name, _)| !taken(name)).collect();
        self.values.extend(more);
        self
    }

    /// Sets a path that was not given explicitly.
    pub(super) fn set_path(&mut self, name: &'static str, path: &Path) {
        self.values.insert(name, (Value::Path(path.to_path_buf()), false));
    }

    /// Copies the value of an option from `other`. If `other` has no value, the option becomes unset.
    pub(super) fn copy(&mut self, name: &'static str, other: &Settings) {
        match other.values.get(name) {
            Some(value) => self.values.insert(name, value.clone()),
            None => self.values.remove(name),
        };
    }

    /// Returns these settings, completed with the defaults of the command.
    ///
    /// # Errors
    /// Returns an error if two of the given options are mutually exclusive.
    pub fn with_defaults(mut self, verb: Verb) -> Result<Settings> {
        self.check_rivals()?;
        self.check_presets(verb)?;
        self.check_keep(verb)?;
        if verb == Verb::Run && self.is_typed("seed") && !self.has("sample") {
            return Err(Error::usage(
                "`seed` sets the seed for `sample`, but `sample` is not given; use both, or neither",
            ));
        }
        if let Some(threshold) = self.real("threshold").filter(|_| verb != Verb::Contaminated) {
            let list = with_threshold(self.text("algorithms"), threshold)?;
            self.values.insert("algorithms", (Value::Text(list), true));
            // The threshold is now part of `algorithms`.
            self.values.remove("threshold");
        }
        let mut defaults = Settings::default();
        let options = self.text("preset").map_or(Ok(&[][..]), |name| preset(name).map(|preset| preset.options))?;
        for option in OPTIONS.iter().filter(|option| option.field.is_some() || option.verbs.contains(&verb)) {
            if let Some(value) = option.default_of(verb).value {
                let value = if option.name == "remove-if" && self.finds_only_addresses() { "pair" } else { value };
                defaults.put(option, &value.into(), false)?;
            }
        }
        for &(name, value) in options {
            if let Some(option) = OPTIONS.iter().find(|option| option.name == name) {
                defaults.put(option, &value.into(), false)?;
            }
        }
        Ok(self.or(defaults))
    }

    fn check_rivals(&self) -> Result<()> {
        for &(one, other, both) in RIVALS {
            // A switch that is off does not count as given.
            let given = |name| self.value(name).filter(|value| **value != Value::Switch(false));
            if let (Some(one_value), Some(other_value)) = (given(one), given(other)) {
                let same = match (other, other_value) {
                    ("preset", Value::Text(name)) => {
                        format!(" (the preset is `algorithms={}`)", preset(name)?.algorithms)
                    }
                    _ => String::new(),
                };
                return Err(Error::usage(format!(
                    "`{one}={one_value}` and `{other}={other_value}` both {both}; use only one of them{same}"
                )));
            }
        }
        Ok(())
    }

    /// Checks that no command except `compare` has presets in its list of algorithms. Some presets also set options, which a list of
    /// algorithms cannot do.
    fn check_presets(&self, verb: Verb) -> Result<()> {
        let list = self.text("algorithms").filter(|_| verb != Verb::Compare);
        match list.map_or(Ok(None), names_preset)? {
            None => Ok(()),
            Some(Preset { name, algorithms, .. }) => Err(Error::wrong(
                "algorithms",
                format_args!("{name} is a preset; use `preset={name}`, or its algorithms: {algorithms}"),
            )),
        }
    }

    /// Checks that `keep=none` is used only with `run`, because no other command removes documents.
    fn check_keep(&self, verb: Verb) -> Result<()> {
        match self.text("keep").map(Keep::parse).transpose()? {
            Some(keep) if keep.is_none && verb != Verb::Run => {
                let why = format_args!("{} removes nothing; expected columns, length or doc", verb.name());
                Err(Error::wrong_value("keep", "none", why))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the algorithms compare only web addresses. Different addresses of the same page do not contain each other, so a
    /// containment rule would keep nearly all documents.
    fn finds_only_addresses(&self) -> bool {
        let chosen = self.text("algorithms").and_then(|list| Recipe::parse_algorithms(list).ok());
        chosen.is_some_and(|chosen| chosen.iter().all(Chosen::compares_addresses))
    }

    fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the value of an option.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// Returns whether you gave the value explicitly. Values from the table, a preset or a record do not count.
    pub fn is_typed(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|(_, typed)| *typed)
    }

    /// Returns whether a switch is on.
    pub fn switch(&self, name: &str) -> bool {
        self.value(name) == Some(&Value::Switch(true))
    }

    /// Returns the value of a numeric option.
    pub fn number(&self, name: &str) -> Option<u64> {
        if let Some(Value::Number(number)) = self.value(name) { Some(*number) } else { None }
    }

    /// Returns the value of an option that specifies a share.
    pub fn real(&self, name: &str) -> Option<f64> {
        if let Some(Value::Real(number)) = self.value(name) { Some(*number) } else { None }
    }

    /// Returns the value of a string option.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Some(Value::Text(text)) = self.value(name) { Some(text) } else { None }
    }

    /// Returns the values of a string option that may be given several times.
    pub fn texts(&self, name: &str) -> &[String] {
        if let Some(Value::Texts(texts)) = self.value(name) { texts } else { &[] }
    }

    /// Returns the value of a path option.
    pub fn path(&self, name: &str) -> Option<&Path> {
        if let Some(Value::Path(path)) = self.value(name) { Some(path) } else { None }
    }
}

/// Returns the options that cannot be combined with this option.
fn rivals(name: &str) -> impl Iterator<Item = &'static str> {
    RIVALS.iter().filter_map(move |&(one, other, _)| match name {
        _ if name == one => Some(other),
        _ if name == other => Some(one),
        _ => None,
    })
}

/// Converts complete settings (see [`Settings::with_defaults`]) to the options for a run. Also reads word lists.
///
/// # Errors
/// Returns an error if a word list is unreadable, options contradict each other, or the output folder is missing.
pub fn resolve(inputs: Vec<String>, settings: &Settings) -> Result<RunOptions> {
    let needs_out = settings.has("out") || !settings.switch("dry-run");
    if needs_out && settings.path("out").is_none_or(|out| out.as_os_str().is_empty()) {
        return Err(Error::usage("no output folder given; expected `out=DIR`, or out = \"DIR\" in the `config` file"));
    }
    let mut run = RunOptions::default();
    run.input.paths = inputs;
    if !needs_out {
        // A dry run writes nothing, so any new folder will do.
        run.output.folder = std::env::temp_dir().join(format!("dupsift-dry-run-{}", std::process::id()));
    }
    for option in OPTIONS {
        if let (Some((set, _)), Some((value, typed))) = (option.field, settings.values.get(option.name)) {
            set(&mut run, Given { value, typed: *typed })?;
        }
    }
    if run.removal.chains && run.removal.remove_if != RemoveIf::Pair {
        return Err(Error::usage(format!(
            "`chain=remove` removes documents that form no pair with the kept document, so `remove-if={}` cannot be checked; use `remove-if=pair` or `chain=keep`",
            run.removal.remove_if
        )));
    }
    if run.removal.keep.is_none && run.incremental.index.is_some() {
        return Err(Error::usage(
            "`keep=none` cannot be combined with `index`, because later runs match documents that were kept; use `reference` \
             to match an index without adding to it",
        ));
    }
    check_keep_per(&run)?;
    Ok(run)
}

/// Checks that one document can be kept for each value of the column `keep-per`.
fn check_keep_per(run: &RunOptions) -> Result<()> {
    let Some(column) = &run.removal.keep_per else { return Ok(()) };
    let refused = |why: &str| Err(Error::wrong_value("keep-per", column, why));
    match () {
        () if run.removal.keep.is_none => refused("`keep=none` keeps none of the duplicates; remove one of them"),
        () if run.recipe.within.as_ref() == Some(column) => refused(
            "`scope=within` compares only documents with the same value, so the option has no effect; remove one of them",
        ),
        () if run.recipe.across.as_ref() == Some(column) => refused(
            "`scope=across` compares only documents with different values, so nothing would be removed; remove one of them",
        ),
        () if run.cut.what.is_some() => refused(
            "`cut` cuts what documents with different values have in common, so little of them would be kept; remove one of them",
        ),
        () if run.incremental.index.is_some() => {
            refused("cannot be combined with `index`, which does not store the column; remove one of them")
        }
        () if run.incremental.reference.is_some() => {
            refused("cannot be combined with `reference`, whose documents need not have the column; remove one of them")
        }
        () => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: &[(&str, &str)]) -> Result<Settings> {
        let mut settings = Settings::default();
        for (name, value) in [("out", "out")].iter().chain(given) {
            let option = OPTIONS.iter().find(|option| option.name == *name).unwrap();
            settings.give(option, &(*value).into())?;
        }
        Ok(settings)
    }

    fn run(given: &[(&str, &str)]) -> Result<RunOptions> {
        resolve(vec!["a".into()], &settings(given)?.with_defaults(Verb::Run)?)
    }

    fn fail(given: &[(&str, &str)]) -> String {
        run(given).err().expect("this should not pass").to_string()
    }

    #[test]
    fn equal_addresses_are_removed_by_default() {
        let rule = |given: &[(&str, &str)]| run(given).unwrap().removal.remove_if.to_string();
        let addresses = ("algorithms", "exact:form=url");
        assert_eq!(rule(&[addresses]), "pair");
        assert_eq!(rule(&[addresses, ("remove-if", "contained:0.8:0.9")]), "contained:0.8:0.9");
        assert_eq!(rule(&[("algorithms", "exact:form=url,minhash")]), "contained:0.8:0.9");
        assert_eq!(rule(&[("algorithms", "exact")]), "contained:0.8:0.9");
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = run(&[]).unwrap();
        let labels: Vec<&str> = options.recipe.algorithms.iter().map(|chosen| chosen.label.as_str()).collect();
        assert_eq!(labels, ["exact", "versions"]);
        assert_eq!(options.removal.keep.to_string(), "length desc, doc asc");
        assert_eq!(options.removal.decide.to_string(), "any");
        let columns =
            (options.columns.text_column.as_str(), options.columns.id_column.as_str(), options.columns.id_required);
        assert_eq!(columns, ("text", "id", false));
        assert_eq!(
            (options.duplicates.max_group, options.duplicates.max_candidates, options.sampling.limit),
            (1_000, 10_000_000, None)
        );
        assert!(
            options.recipe.count_copies
                && !options.removal.chains
                && !options.guards.strict
                && !options.output.overwrite
        );
        assert!(
            options.resources.threads >= 1
                && options.resources.memory >= 1
                && options.output.report
                && !options.columns.html
        );
    }

    #[test]
    fn each_verb_has_its_defaults() {
        let label = |verb| {
            let run = resolve(vec![], &settings(&[]).unwrap().with_defaults(verb).unwrap()).unwrap();
            (run.recipe.algorithms.len(), run.columns.text_column, run.columns.html, run.output.report)
        };
        // `all` holds all algorithms, including algorithms that presets use with different parameters.
        let all = dupsift_algorithms::recipe::entries::Entries::parse("all,balanced,strict,broad,fineweb")
            .unwrap()
            .algorithms
            .len();
        assert!(all > dupsift_algorithms::algorithm::ALGORITHMS.len());
        assert_eq!(label(Verb::Compare), (all, "text".into(), false, true));
        assert_eq!(label(Verb::Stream), (1, "text".into(), false, true));
        assert_eq!(label(Verb::Purify), (1, "html".into(), true, false));
    }

    #[test]
    fn what_was_typed_takes_the_place_of_the_other_choice() {
        let typed = settings(&[("preset", "broad"), ("strict", "false")]).unwrap();
        let file = settings(&[("algorithms", "tf"), ("strict", "true"), ("stem", "true")]).unwrap();
        let both = typed.or(file).with_defaults(Verb::Run).unwrap();
        assert_eq!((both.value("algorithms"), both.text("preset")), (None, Some("broad")));
        assert_eq!((both.switch("strict"), both.switch("stem")), (false, true));
        assert_eq!(resolve(vec![], &both).unwrap().recipe.algorithms.len(), 3);
        let pages = run(&[("html-column", "html")]).unwrap();
        assert_eq!((pages.columns.html, pages.columns.text_column.as_str()), (true, "html"));
    }

    #[test]
    fn ranges_are_held_and_named() {
        assert_eq!(fail(&[("threads", "0")]), "`threads`: expected a whole number from 1 to 1024, got \"0\"");
        assert!(fail(&[("threads", "1025")]).contains("1 to 1024"));
        assert!(fail(&[("max-group", "1")]).contains("at least 2"));
        assert!(fail(&[("max-candidates", "0")]).contains("at least 1"));
        assert!(fail(&[("max-rejected-share", "1.5")]).contains("`max-rejected-share`: expected a share from 0 to 1"));
        assert!(fail(&[("limit", "many")]).contains("`limit`: expected a whole number of at least 1"));
        assert!(run(&[("threads", "1024")]).is_ok());
    }

    #[test]
    fn unknown_names_get_the_likely_one() {
        assert!(fail(&[("tokenizer", "bigramm")]).contains("did you mean \"bigram\"?; available: dict"));
        assert!(fail(&[("algorithms", "minhsh")]).contains("did you mean \"minhash\"?"));
        assert!(fail(&[("decide", "version")]).contains("did you mean \"versions\"?"));
        assert!(fail(&[("preset", "brod")]).contains("did you mean \"broad\"?"));
        let both = fail(&[("preset", "broad"), ("algorithms", "tf")]);
        assert!(both.contains("use only one of them (the preset is `algorithms=exact,"), "{both}");
        assert!(fail(&[("keep", "score down")]).contains("COLUMN desc"));
        assert!(fail(&[("seed", "3")]).contains("`sample` is not given"));
        assert_eq!(run(&[("seed", "3"), ("sample", "9")]).unwrap().sampling.seed, 3);
        assert!(settings(&[("seed", "3")]).unwrap().with_defaults(Verb::Compare).is_ok());
        assert!(fail(&[("keep", "none"), ("index", "seen")]).contains("cannot be combined with `index`"));
        assert!(run(&[("keep", "none"), ("reference", "seen")]).unwrap().removal.keep.is_none);
        let compared = settings(&[("keep", "none")]).unwrap().with_defaults(Verb::Compare).unwrap_err();
        assert!(compared.to_string().contains("compare removes nothing"), "{compared}");
        assert!(fail(&[("id-column", "")]).contains("name of a column"));
        assert!(fail(&[("out", "")]).contains("`out=DIR`"));
        let dry = OPTIONS.iter().find(|option| option.name == "dry-run").unwrap();
        let mut settings = Settings::default();
        settings.give(dry, &true.into()).unwrap();
        assert!(!resolve(vec![], &settings).unwrap().output.folder.exists(), "a dry run needs no output folder");
        assert!(resolve(vec![], &Settings::default()).err().unwrap().to_string().contains("`out=DIR`"));
    }

    #[test]
    fn files_of_words_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.txt");
        let name = path.to_str().unwrap();
        std::fs::write(&path, "\u{feff}и\r\n\n  the \n的").unwrap();
        assert_eq!(run(&[("stop-words", name)]).unwrap().recipe.text.stop_words, ["и", "the", "的"]);
        std::fs::write(&path, b"a\n\xff").unwrap();
        assert!(fail(&[("stop-words", name)]).contains("words.txt`, line 2: invalid UTF-8"));
        std::fs::write(&path, "词语 many\n").unwrap();
        let message = fail(&[("dictionary", name)]);
        assert!(message.contains("words.txt") && message.contains("line 1"), "{message}");
    }
}
