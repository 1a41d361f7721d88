//! `--purify METHOD[:name=value,...]`: selects how pages are cleaned. The value is typed like an algorithm, checked once, and printed back
//! in full.
//!
//! ```text
//! docview:max_depth=100  ->  docview:max_bytes=8388608,max_depth=100,max_elements=500000,max_links=10000,other=visible
//! ```

use dupsift_algorithms::algorithm::{Kind, ParamSpec, Params};
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_pages::{Fallback, Method, PurifyOptions};

/// Every method for finding the main text of a page, with its name.
const METHODS: [(&str, Method); 3] =
    [("docview", Method::Docview), ("readability", Method::Readability), ("visible", Method::Visible)];

/// The parameters of every method, in the order in which the help lists them.
const PURIFY_PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "other",
        kind: Kind::Choice(&["visible", "skip"]),
        default: "visible",
        help: "text to use for a page without main text: all visible text, or none",
    },
    ParamSpec {
        name: "max_bytes",
        kind: Kind::Int(1 << 10, 64 << 20),
        default: "8388608",
        help: "maximum number of bytes to read from a page, as UTF-8",
    },
    ParamSpec {
        name: "max_elements",
        kind: Kind::Int(100, 10_000_000),
        default: "500000",
        help: "maximum number of elements to read from a page",
    },
    ParamSpec {
        name: "max_depth",
        kind: Kind::Int(16, 1024),
        default: "256",
        help: "maximum nesting depth; deeper elements keep only their text",
    },
    ParamSpec {
        name: "max_links",
        kind: Kind::Int(0, 1_000_000),
        default: "10000",
        help: "maximum number of links to keep from a page",
    },
];

/// Parses `METHOD[:name=value,...]`.
///
/// # Errors
/// Returns an error for unknown methods and parameters, values out of range, or a parameter given twice.
pub(super) fn parse_purify(typed: &str) -> Result<PurifyOptions> {
    let (name, values) = typed.trim().split_once(':').unwrap_or((typed.trim(), ""));
    let name = name.trim();
    let Some(&(_, method)) = METHODS.iter().find(|(known, _)| *known == name) else {
        let names = METHODS.iter().map(|(known, _)| *known);
        let hint = did_you_mean(name, names.clone());
        let names = names.collect::<Vec<_>>().join(", ");
        return Err(Error::wrong("purify", format_args!("there is no method {name:?}{hint}; available: {names}")));
    };
    let mut pairs = Vec::new();
    for item in values.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let Some((parameter, value)) = item.split_once('=') else {
            return Err(Error::wrong(
                "purify",
                format_args!("{item:?} is not parameter=value; expected {name}:{item}=VALUE"),
            ));
        };
        pairs.push((parameter.trim().to_owned(), value.trim().to_owned()));
    }
    let params = Params::check(&format!("`purify={name}`"), PURIFY_PARAMS, &pairs)?;
    Ok(PurifyOptions {
        method,
        fallback: if params.word("other") == "skip" { Fallback::Skip } else { Fallback::Visible },
        max_bytes: params.count("max_bytes"),
        max_elements: params.count("max_elements"),
        max_depth: params.count("max_depth"),
        max_links: params.count("max_links"),
    })
}

/// Returns the options as you would type them, with the name of every parameter; [`parse_purify`] parses the result.
pub(crate) fn purify_name(options: &PurifyOptions) -> String {
    let PurifyOptions { method, fallback, max_bytes, max_elements, max_depth, max_links } = options;
    let name = METHODS.iter().find(|(_, known)| known == method).map_or("", |(name, _)| name);
    let other = match fallback {
        Fallback::Visible => "visible",
        Fallback::Skip => "skip",
    };
    format!(
        "{name}:max_bytes={max_bytes},max_depth={max_depth},max_elements={max_elements},max_links={max_links},other={other}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_typed_is_the_default_and_all_is_printed_back() {
        assert_eq!(
            parse_purify("docview").unwrap(),
            PurifyOptions { method: Method::Docview, ..PurifyOptions::default() }
        );
        for (name, method) in METHODS {
            assert_eq!(parse_purify(name).unwrap().method, method);
        }
        let options = parse_purify(" readability: other=skip , max_links=5 ").unwrap();
        let expected = PurifyOptions {
            method: Method::Readability,
            fallback: Fallback::Skip,
            max_links: 5,
            ..PurifyOptions::default()
        };
        assert_eq!(options, expected);
        let printed = purify_name(&options);
        assert_eq!(printed, "readability:max_bytes=8388608,max_depth=256,max_elements=500000,max_links=5,other=skip");
        assert_eq!(parse_purify(&printed).unwrap(), options);
        // Every parameter is printed.
        assert!(PURIFY_PARAMS.iter().all(|spec| printed.contains(&format!("{}=", spec.name))));
    }

    #[test]
    fn every_method_has_its_name() {
        for method in [Method::Docview, Method::Readability, Method::Visible] {
            let name = purify_name(&PurifyOptions { method, ..PurifyOptions::default() });
            assert_eq!(parse_purify(&name).unwrap().method, method, "{name}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let message = |typed: &str| parse_purify(typed).unwrap_err().to_string();
        assert_eq!(
            message("docviev"),
            "`purify`: there is no method \"docviev\"; did you mean \"docview\"?; available: docview, readability, visible"
        );
        assert!(message("").contains("there is no method \"\""));
        assert!(message("docview:max_dept=3").contains("did you mean \"max_depth\"?; available: other, max_bytes"));
        assert_eq!(
            message("docview:max_depth=5"),
            "`purify=docview`: max_depth=5 is not a whole number from 16 to 1024"
        );
        assert!(message("docview:other=skipp").contains("is not one of visible, skip; did you mean \"skip\"?"));
        assert!(message("docview:skip").contains("expected docview:skip=VALUE"));
        assert!(message("docview:max_links=1,max_links=2").contains("given twice"));
        for spec in PURIFY_PARAMS.iter().filter(|spec| matches!(spec.kind, Kind::Int(..))) {
            assert!(message(&format!("visible:{}=-1", spec.name)).contains("is not a whole number from"));
        }
    }
}
