//! What the settings mean: defaults, ranges, the contents of the files they name.
//!
//! Everything that can be known to be wrong before an input is opened is found here, so that a typing error costs a second
//! and not a night. What depends on the inputs (columns, the least memory) is the driver's to check.

use std::path::Path;
use std::str::FromStr;

use bytesize::ByteSize;

use super::args::{Chain, LogFormat, Settings, Typed};
use crate::encoding::Encoding;
use crate::error::{Error, Result, did_you_mean};
use crate::job::{Decide, Keep, RunOptions};
use crate::purify::PurifyOptions;
use crate::stage::recipe::{Chosen, DEFAULT_PRESET, Recipe, parse_purify, preset};
use crate::text::{Field, Pipeline, TextOptions, TokenizerKind};

/// The `--keep` of a run that names none; the document number decides last in any case.
pub const DEFAULT_KEEP: &str = "length desc";
/// The `--max-group` of a run that names none.
pub const DEFAULT_MAX_GROUP: u64 = 1_000;
/// The `--max-candidates` of a run that names none: all pairs of a group of 4,472 rows.
pub const DEFAULT_MAX_CANDIDATES: u64 = 10_000_000;

const MAX_THREADS: u64 = 1_024;

/// A run, ready for the driver, and how the person wants to watch it.
pub struct Resolved {
    /// For the driver.
    pub options: RunOptions,
    /// Whether to stop after the estimate.
    pub dry_run: bool,
    /// The form of log lines.
    pub log_format: LogFormat,
    /// Whether bars are wanted, where there is a terminal for them.
    pub progress: bool,
}

/// Checks settings that need not be complete, such as those of a configuration file alone.
///
/// # Errors
/// The first value that its flag would not take.
pub fn check(settings: &Settings) -> Result<()> {
    Values::of(settings).map(drop)
}

/// Settings with every default filled in and the files of words read.
///
/// # Errors
/// A value out of its range, an unknown name, a list of words that cannot be read, no output folder.
pub fn resolve(inputs: Vec<String>, settings: Settings) -> Result<Resolved> {
    let values = Values::of(&settings)?;
    let out = settings.out.filter(|out| !out.as_os_str().is_empty()).ok_or_else(|| {
        Error::Usage(
            "the output folder is missing; expected --out DIR, or out = \"DIR\" in the file of --config".into(),
        )
    })?;
    let algorithms = match values.algorithms {
        Some(algorithms) => algorithms,
        None => Recipe::parse_algorithms(preset(settings.preset.as_deref().unwrap_or(DEFAULT_PRESET))?.algorithms)?,
    };
    let labels: Vec<&str> = algorithms.iter().map(|chosen| chosen.label.as_str()).collect();
    let decide = Decide::parse(settings.decide.as_deref().unwrap_or("any"), &labels)?;
    let text = TextOptions {
        tokenizer: values.tokenizer.unwrap_or_default(),
        yo_to_e: settings.yo_to_e.unwrap_or(false),
        stem: settings.stem.unwrap_or(false),
        stop_words: settings.stop_words.as_deref().map(read_stop_words).transpose()?.unwrap_or_default(),
        dictionary: settings.dictionary.as_deref().map(|path| read_text("dictionary", path)).transpose()?,
    };
    if let Some(path) = &settings.dictionary {
        // The dictionary is checked line by line here, where its name is still known.
        Pipeline::new(&text).map_err(|error| Error::Usage(format!("--dictionary {}: {error}", path.display())))?;
    }
    let options = RunOptions {
        inputs,
        out,
        overwrite: settings.overwrite.unwrap_or(false),
        accept: settings.accept.unwrap_or(false),
        max_rejected_share: settings.max_rejected_share,
        whole_files: settings.whole_files.unwrap_or(false),
        encoding: values.encoding.unwrap_or_default(),
        html: settings.html_column.is_some(),
        text_column: settings.html_column.or(settings.text_column).unwrap_or_else(|| "text".into()),
        content_type_column: settings.content_type_column.unwrap_or_else(|| "content_type".into()),
        url_column: settings.url_column.unwrap_or_else(|| "url".into()),
        id_required: settings.id_column.is_some(),
        id_column: settings.id_column.unwrap_or_else(|| "id".into()),
        fields_required: [&settings.title_column, &settings.keywords_column, &settings.description_column]
            .map(Option::is_some),
        field_columns: [
            (settings.title_column, Field::Title),
            (settings.keywords_column, Field::Keywords),
            (settings.description_column, Field::Description),
        ]
        .map(|(column, field)| column.unwrap_or_else(|| field.name().into())),
        other_columns: Vec::new(),
        recipe: Recipe {
            algorithms,
            text,
            count_copies: settings.count_copies.unwrap_or(true),
            purify: values.purify.unwrap_or_default(),
        },
        stop_words_file: settings.stop_words,
        dictionary_file: settings.dictionary,
        threads: values.threads.unwrap_or_else(cores_allowed),
        memory: values.memory.unwrap_or_else(half_of_memory_allowed),
        work: settings.work,
        keep: values.keep.map_or_else(|| Keep::parse(DEFAULT_KEEP), Ok)?,
        decide,
        remove_chains: settings.chain.unwrap_or_default() == Chain::Remove,
        max_group: values.max_group.unwrap_or(DEFAULT_MAX_GROUP),
        max_candidates: values.max_candidates.unwrap_or(DEFAULT_MAX_CANDIDATES),
        sift: settings.sift.unwrap_or(false),
        strict: settings.strict.unwrap_or(false),
        report: !settings.no_report.unwrap_or(false),
        limit: values.limit,
    };
    Ok(Resolved {
        options,
        dry_run: settings.dry_run.unwrap_or(false),
        log_format: settings.log_format.unwrap_or_default(),
        progress: !settings.no_progress.unwrap_or(false),
    })
}

/// The values that can be understood one by one.
struct Values {
    algorithms: Option<Vec<Chosen>>,
    tokenizer: Option<TokenizerKind>,
    purify: Option<PurifyOptions>,
    keep: Option<Keep>,
    threads: Option<usize>,
    memory: Option<u64>,
    max_group: Option<u64>,
    max_candidates: Option<u64>,
    limit: Option<u64>,
    encoding: Option<Encoding>,
}

impl Values {
    fn of(settings: &Settings) -> Result<Values> {
        let number = |flag: &str, typed: &Option<Typed>, low: u64, high: u64| {
            typed.as_ref().map(|typed| whole_number(flag, &typed.0, low, high)).transpose()
        };
        let columns = [
            ("text-column", &settings.text_column),
            ("html-column", &settings.html_column),
            ("content-type-column", &settings.content_type_column),
            ("url-column", &settings.url_column),
            ("id-column", &settings.id_column),
            ("title-column", &settings.title_column),
            ("keywords-column", &settings.keywords_column),
            ("description-column", &settings.description_column),
        ];
        for (flag, column) in columns {
            if column.as_deref() == Some("") {
                return Err(Error::Usage(format!("--{flag} is empty; expected the name of a column")));
            }
        }
        if let (Some(text), Some(html)) = (&settings.text_column, &settings.html_column) {
            return Err(Error::Usage(format!(
                "--text-column {text} and --html-column {html} both name the column to read; expected one of the two"
            )));
        }
        if let (Some(_), Some(chosen)) = (&settings.algorithms, &settings.preset) {
            let same = preset(chosen)?.algorithms;
            return Err(Error::Usage(format!(
                "--algorithms and --preset {chosen} both choose the algorithms; expected one of the two (the preset is --algorithms {same})"
            )));
        }
        settings.preset.as_deref().map(preset).transpose()?;
        if let Some(share) = settings.max_rejected_share.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(Error::Usage(format!("--max-rejected-share: expected a share from 0 to 1, got {share}")));
        }
        let threads = number("threads", &settings.threads, 1, MAX_THREADS)?;
        Ok(Values {
            algorithms: settings.algorithms.as_deref().map(Recipe::parse_algorithms).transpose()?,
            tokenizer: settings.tokenizer.as_deref().map(tokenizer).transpose()?,
            purify: settings.purify.as_deref().map(parse_purify).transpose()?,
            keep: settings.keep.as_deref().map(Keep::parse).transpose()?,
            threads: threads.map(|threads| threads as usize),
            memory: settings.memory.as_ref().map(|typed| memory(&typed.0)).transpose()?,
            max_group: number("max-group", &settings.max_group, 2, u64::MAX)?,
            max_candidates: number("max-candidates", &settings.max_candidates, 1, u64::MAX)?,
            limit: number("limit", &settings.limit, 1, u64::MAX)?,
            encoding: settings.encoding.as_deref().map(Encoding::parse).transpose()?,
        })
    }
}

/// A whole number as it was typed for a flag.
///
/// # Errors
/// Anything else, with the range.
pub fn whole_number(flag: &str, typed: &str, low: u64, high: u64) -> Result<u64> {
    typed.trim().parse().ok().filter(|number| (low..=high).contains(number)).ok_or_else(|| {
        let range = if high == u64::MAX { format!("of at least {low}") } else { format!("from {low} to {high}") };
        Error::Usage(format!("--{flag}: expected a whole number {range}, got {typed:?}"))
    })
}

fn memory(typed: &str) -> Result<u64> {
    match ByteSize::from_str(typed.trim()) {
        Ok(ByteSize(bytes)) if bytes > 0 => Ok(bytes),
        _ => Err(Error::Usage(format!(
            "--memory: expected a size such as 4GiB, 512MB or a number of bytes, got {typed:?}"
        ))),
    }
}

fn tokenizer(typed: &str) -> Result<TokenizerKind> {
    TokenizerKind::by_name(typed).ok_or_else(|| {
        let hint = did_you_mean(typed, TokenizerKind::NAMES.iter().copied());
        let names = TokenizerKind::NAMES.join(", ");
        Error::Usage(format!("--tokenizer: there is no tokenizer {typed:?}{hint}; there are: {names}"))
    })
}

/// One word a line; blank lines say nothing.
fn read_stop_words(path: &Path) -> Result<Vec<String>> {
    let text = read_text("stop-words", path)?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string).collect())
}

/// The text of a file that an option names, without a byte order mark.
///
/// # Errors
/// [`Error::Usage`]: another name, or another file under it, would do.
pub fn read_text(flag: &str, path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::Usage(format!("--{flag} {}: expected a file that can be read, got: {error}", path.display()))
    })?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        let path = path.display();
        Error::Usage(format!("--{flag} {path}, line {line}: expected text in UTF-8, got other bytes; convert the file"))
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

fn cores_allowed() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MAX_THREADS as usize)
}

/// Half of what the machine has or the cgroup of this process allows, whichever is less; 1 GiB where neither is known.
fn half_of_memory_allowed() -> u64 {
    let Ok(mut system) = sysinfo::System::new() else {
        return ByteSize::gib(1).0;
    };
    system.refresh_memory();
    let machine = Some(system.total_memory()).filter(|&bytes| bytes > 0);
    // The limit may stand at the process's own group (a service) or at the root that a container sees.
    let own = sysinfo::get_current_pid().ok().and_then(|pid| {
        let nothing = sysinfo::ProcessRefreshKind::nothing();
        system.refresh_processes_specifics(sysinfo::ProcessesToUpdate::Some(&[pid]), false, nothing);
        system.process(pid)?.cgroup_limits()
    });
    let groups = [own, system.cgroup_limits()].into_iter().flatten().map(|limits| limits.total_memory);
    let least = groups.filter(|&bytes| bytes > 0).chain(machine).min();
    least.map_or(ByteSize::gib(1).0, |bytes| (bytes / 2).max(1))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = Settings { out: Some("out".into()), ..Settings::default() };
        change(&mut settings);
        settings
    }

    fn fail(change: impl FnOnce(&mut Settings)) -> String {
        match resolve(vec!["a".into()], settings(change)) {
            Ok(_) => panic!("this should not pass"),
            Err(error) => error.to_string(),
        }
    }

    fn typed(text: &str) -> Option<Typed> {
        Some(Typed(text.into()))
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let resolved = resolve(vec!["a".into()], settings(|_| ())).unwrap();
        let options = resolved.options;
        let labels: Vec<&str> = options.recipe.algorithms.iter().map(|chosen| chosen.label.as_str()).collect();
        assert_eq!(labels, ["exact", "cosine"]);
        assert_eq!(options.keep.to_string(), "length desc, doc asc");
        assert_eq!(options.decide.to_string(), "any");
        assert_eq!(
            (options.text_column.as_str(), options.id_column.as_str(), options.id_required),
            ("text", "id", false)
        );
        assert_eq!((options.max_group, options.max_candidates, options.limit), (1_000, 10_000_000, None));
        assert!(options.recipe.count_copies && !options.remove_chains && !options.strict && !options.overwrite);
        assert!(options.threads >= 1 && options.memory >= 1);
        assert!(resolved.progress && !resolved.dry_run);
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let sizes = [
            ("4GiB", 4 << 30),
            ("512MB", 512_000_000),
            ("1.5 GiB", 3 << 29),
            ("1048576", 1 << 20),
            ("64mib", 64 << 20),
        ];
        for (size, bytes) in sizes {
            assert_eq!(memory(size).unwrap(), bytes, "{size}");
        }
        for size in ["", "0", "lots", "-1", "4 gigs", "GiB", "1.2.3MB"] {
            assert!(memory(size).unwrap_err().to_string().contains("such as 4GiB"), "{size}");
        }
    }

    #[test]
    fn ranges_are_held_and_named() {
        assert_eq!(fail(|s| s.threads = typed("0")), "--threads: expected a whole number from 1 to 1024, got \"0\"");
        assert!(fail(|s| s.threads = typed("1025")).contains("1 to 1024"));
        assert!(fail(|s| s.max_group = typed("1")).contains("at least 2"));
        assert!(fail(|s| s.max_candidates = typed("0")).contains("at least 1"));
        assert!(fail(|s| s.limit = typed("many")).contains("--limit: expected a whole number of at least 1"));
        assert!(resolve(vec![], settings(|s| s.threads = typed("1024"))).is_ok());
    }

    #[test]
    fn unknown_names_get_the_likely_one() {
        assert!(fail(|s| s.tokenizer = Some("bigramm".into())).contains("did you mean \"bigram\"?; there are: dict"));
        assert!(fail(|s| s.algorithms = Some("minhsh".into())).contains("did you mean \"minhash\"?"));
        assert!(fail(|s| s.decide = Some("cosin".into())).contains("did you mean \"cosine\"?"));
        assert!(fail(|s| s.preset = Some("brod".into())).contains("did you mean \"broad\"?"));
        let both = fail(|s| (s.preset, s.algorithms) = (Some("broad".into()), Some("tf".into())));
        assert!(both.contains("expected one of the two (the preset is --algorithms exact,"), "{both}");
        assert!(fail(|s| s.keep = Some("score down".into())).contains("COLUMN desc"));
        assert!(fail(|s| s.id_column = Some(String::new())).contains("name of a column"));
        assert!(fail(|s| s.out = Some(PathBuf::new())).contains("--out DIR"));
        assert!(fail(|s| s.out = None).contains("--out DIR"));
    }

    #[test]
    fn files_of_words_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.txt");
        std::fs::write(&path, "\u{feff}и\r\n\n  the \n的").unwrap();
        let resolved = resolve(vec![], settings(|s| s.stop_words = Some(path.clone()))).unwrap();
        assert_eq!(resolved.options.recipe.text.stop_words, ["и", "the", "的"]);
        std::fs::write(&path, b"a\n\xff").unwrap();
        assert!(fail(|s| s.stop_words = Some(path.clone())).contains("words.txt, line 2: expected text in UTF-8"));
        std::fs::write(&path, "词语 many\n").unwrap();
        let message = fail(|s| s.dictionary = Some(path.clone()));
        assert!(message.contains("words.txt") && message.contains("line 1"), "{message}");
    }
}
