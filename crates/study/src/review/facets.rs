//! Groups the removals on the page, so that a reader can filter them: by reason, file, the values of columns, script, length and similarity.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::removed::RemovalSample;
use super::shown::{ShownText, file_of};
use super::tally::{bin, bin_range};
use dupsift_algorithms::steps::parts::{LENGTHS, Script};
use dupsift_core::number::thousands;
use dupsift_engine::job::run_report::RunReport;

/// The maximum number of groups. If there are more, the search on the page serves better.
const MOST: usize = 30;

/// Holds one way to group the removals of the sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facet {
    /// The name, such as `file`.
    pub name: String,
    /// The names of the groups, in order.
    pub groups: Vec<String>,
    /// The group of each removal, in the order of the sample.
    pub of: Vec<usize>,
}

/// Groups the removals in every way that makes at least two groups. The file, the script, the length and the values belong to the removed
/// document. `columns` contains the columns whose values were read.
pub(crate) fn facets(
    report: &RunReport,
    columns: &[String],
    sample: &[RemovalSample],
    texts: &BTreeMap<u64, ShownText>,
) -> Vec<Facet> {
    let first_doc = report.index.as_ref().map_or(0, |index| index.first_doc);
    let text = |one: &RemovalSample| texts.get(&one.doc);
    // A group sorts by its number, and then by its name.
    let by = |name: &str, group: &dyn Fn(&RemovalSample) -> (usize, String)| facet(name, sample.iter().map(group));
    let unknown = || (usize::MAX, "unknown".to_owned());
    let mut facets = vec![
        by("reason", &|one| (0, one.reason.to_owned())),
        by("file", &|one| {
            let file = one.doc.checked_sub(first_doc).and_then(|row| file_of(report, row));
            file.map_or_else(unknown, |(file, _)| (0, file.file.clone()))
        }),
    ];
    facets.extend(columns.iter().enumerate().map(|(at, column)| {
        by(column, &|one| match text(one).and_then(|text| text.values.get(at)?.clone()) {
            Some(value) if value.is_empty() => (0, "(empty)".to_owned()),
            Some(value) => (0, value),
            None => (usize::MAX, "(none)".to_owned()),
        })
    }));
    facets.push(by("script", &|one| text(one).map_or_else(unknown, |text| (0, Script::of(&text.text).name().into()))));
    facets.push(by("length", &|one| text(one).map_or_else(unknown, |text| length(text.characters))));
    facets.push(by("similarity", &|one| match one.similarity.map(bin) {
        Some(bin) => {
            let (low, high) = bin_range(bin);
            (bin, if low >= 1.0 { "1".to_owned() } else { format!("{low:.2} to {high:.2}") })
        }
        None => (usize::MAX, "linked by a chain".to_owned()),
    }));
    facets.into_iter().flatten().collect()
}

/// Returns the range of lengths, in characters, that contains a length.
fn length(characters: u64) -> (usize, String) {
    let at = LENGTHS.partition_point(|&least| u64::from(least) <= characters) - 1;
    let least = thousands(LENGTHS[at].into());
    let range = match LENGTHS.get(at + 1) {
        Some(&next) => format!("{least} to {} characters", thousands(u64::from(next) - 1)),
        None => format!("{least} characters or more"),
    };
    (at, range)
}

/// Returns the facet with these groups; `None` if it has only one group or too many.
fn facet(name: &str, of: impl Iterator<Item = (usize, String)>) -> Option<Facet> {
    let of: Vec<(usize, String)> = of.collect();
    let groups: BTreeSet<&(usize, String)> = of.iter().collect();
    if !(2..=MOST).contains(&groups.len()) {
        return None;
    }
    let groups: Vec<&(usize, String)> = groups.into_iter().collect();
    let place = |one: &(usize, String)| groups.partition_point(|known| *known < one);
    Some(Facet {
        name: name.to_owned(),
        of: of.iter().map(place).collect(),
        groups: groups.into_iter().map(|(_, name)| name.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::InputReport;

    #[test]
    fn removals_are_grouped_where_they_differ() {
        let one = |doc, similarity, reason| RemovalSample { doc, similarity, reason, ..RemovalSample::default() };
        let sample = [one(0, Some(0.97), "pair"), one(3, None, "chain"), one(2, Some(0.81), "pair")];
        let text = |text: &str, lang: Option<&str>| ShownText {
            text: text.into(),
            characters: text.chars().count() as u64,
            values: vec![lang.map(str::to_owned)],
            ..ShownText::default()
        };
        let texts = [(0, text(&"one ".repeat(500), Some("en"))), (3, text("два", None)), (2, text("two", Some("en")))];
        let file = |name: &str, rows| InputReport { file: name.into(), rows, ..InputReport::default() };
        let report = RunReport { inputs: vec![file("a", 3), file("b", 2)], ..RunReport::default() };
        let found = facets(&report, &["lang".to_owned()], &sample, &texts.into());
        let shown: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|facet| (facet.name.as_str(), facet.of.iter().map(|&at| facet.groups[at].as_str()).collect()))
            .collect();
        expect_test::expect![[r#"
            [
                (
                    "reason",
                    [
                        "pair",
                        "chain",
                        "pair",
                    ],
                ),
                (
                    "file",
                    [
                        "a",
                        "b",
                        "a",
                    ],
                ),
                (
                    "lang",
                    [
                        "en",
                        "(none)",
                        "en",
                    ],
                ),
                (
                    "script",
                    [
                        "Latin",
                        "Cyrillic",
                        "Latin",
                    ],
                ),
                (
                    "length",
                    [
                        "1,000 to 2,999 characters",
                        "0 to 99 characters",
                        "0 to 99 characters",
                    ],
                ),
                (
                    "similarity",
                    [
                        "0.95 to 1.00",
                        "linked by a chain",
                        "0.80 to 0.85",
                    ],
                ),
            ]
        "#]]
        .assert_debug_eq(&shown);
        assert!(facets(&report, &[], &sample[..1], &BTreeMap::new()).is_empty());
    }
}
