//! Generates Markdown for the manual: docs/algorithms.md from the facts about the algorithms, and the tables in docs/options.md from the
//! table of options. Tests compare these files with the generated text.

use dupsift_algorithms::algorithm::{ALGORITHMS, Algorithm, specs};

const HEAD: &str = "# The algorithms

[Goals](methods/goals.md) helps you choose an algorithm. Each name links to a page with its steps,
parameters and cost; `dupsift algorithms NAME` prints the parameters. All algorithms also accept these parameters
([details](methods/common.md)):

* `verify=none|jaccard:T|lcs:T|cosine:T` checks each pair by comparing the two texts.
* `margin=M` keeps only pairs whose similarity is at most M below the best similarity of each of their documents.
* `as=NAME` sets the name of the output folder.
";

/// The beginning of every summary; the table states it once, in its header.
const SUMMARY_START: &str = "Two documents are duplicates if ";

/// Returns the page that lists all algorithms in a table, with a link to the page of each algorithm.
pub(crate) fn all() -> String {
    let mut page =
        format!("{HEAD}\n| name | alias | inputs | two documents are duplicates if |\n| --- | --- | --- | --- |\n");
    for algorithm in ALGORITHMS {
        let facts = algorithm.facts();
        let name = algorithm.name();
        let link = format!("[{name}](methods/{name}.md)");
        let condition = facts.summary.strip_prefix(SUMMARY_START).unwrap_or(facts.summary);
        page += &row(&[link, facts.aliases.join(", "), facts.inputs.into(), condition.into()]);
    }
    page
}

/// Returns the page of one algorithm with its parameters, presets and shorthands.
pub(crate) fn one(algorithm: &dyn Algorithm) -> String {
    let facts = algorithm.facts();
    let aliases =
        if facts.aliases.is_empty() { String::new() } else { format!(" Alias: {}.", facts.aliases.join(", ")) };
    let mut section = format!(
        "## {}\n\n{}{aliases}\n\n- Source: {}.\n- Reads: {}.\n- When not to use it: {}.\n",
        algorithm.name(),
        facts.summary,
        facts.source,
        facts.inputs,
        facts.when_not_to_use
    );
    section += "\n| parameter | default | value | meaning |\n| --- | --- | --- | --- |\n";
    for spec in specs(algorithm) {
        section +=
            &row(&[format!("`{}`", spec.name), format!("`{}`", spec.default), spec.kind.to_string(), spec.help.into()]);
    }
    if !facts.presets.is_empty() {
        section += "\n| preset | stands for |\n| --- | --- |\n";
        for (name, values) in facts.presets {
            section += &row(&[format!("`preset={name}`"), format!("`{values}`")]);
        }
    }
    if !algorithm.facts().shorthands.is_empty() {
        section += "\n| shorthand | value | stands for |\n| --- | --- | --- |\n";
        for short in algorithm.facts().shorthands {
            section += &row(&[format!("`{}`", short.name), short.kind.to_string(), short.help.into()]);
        }
    }
    section
}

/// Returns the options of `run`, followed by the options of other commands, in the format of docs/options.md.
#[cfg(test)]
fn options() -> String {
    use dupsift_engine::options::{OptionSpec, Spelling, Verb, in_groups};

    let cells = |option: &OptionSpec, verb: Verb| {
        let none = if option.is_plain_switch() { "off" } else { "none" };
        let default = option.shown_of(verb).unwrap_or(none);
        let spelled = |text| Spelling::Flags.of(text).into_owned();
        [format!("`--{}`", option.name), spelled(default), spelled(option.help_of(verb))]
    };
    let (mut page, mut group) = (String::new(), "");
    for option in in_groups(Verb::Run) {
        if group != option.heading {
            group = option.heading;
            let line = if page.is_empty() { "" } else { "\n" };
            page += &format!("{line}### {group}\n\n| option | default | meaning |\n| --- | --- | --- |\n");
        }
        page += &row(&cells(option, Verb::Run));
    }
    page += "\n### Other commands\n\n| command | option | default | meaning |\n| --- | --- | --- | --- |\n";
    for verb in Verb::MAKING.into_iter().filter(|verb| *verb != Verb::Run) {
        let differs = |option: &&OptionSpec| {
            option.verbs.contains(&verb)
                && (!option.verbs.contains(&Verb::Run) || cells(option, verb) != cells(option, Verb::Run))
        };
        for option in in_groups(verb).into_iter().filter(differs) {
            page += &row(&[&[verb.name().to_string()], &cells(option, verb)[..]].concat());
        }
    }
    page
}

/// Returns a table row; vertical bars within a cell are escaped.
fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Run the tests with UPDATE_EXPECT=1 to rewrite the page.
    #[test]
    fn the_page_in_docs_is_this_one() {
        expect_test::expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/docs/algorithms.md")].assert_eq(&all());
    }

    #[test]
    fn the_page_of_goals_says_when_to_take_each_algorithm() {
        let page = include_str!("../../../docs/methods/goals.md");
        let table = page.split("| goal | use |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
        for algorithm in ALGORITHMS {
            assert!(table.contains(&format!("`{}", algorithm.name())), "{} is not in the table", algorithm.name());
        }
    }

    /// Run the tests with UPDATE_EXPECT=1 to rewrite the tables.
    #[test]
    fn the_options_in_docs_are_those_of_the_table() {
        const BEGIN: &str = "<!-- The tables of options, made from crates/engine/src/options/groups by `make golden`; do not edit. -->\n";
        const END: &str = "<!-- The end of the tables of options. -->\n";
        let page = include_str!("../../../docs/options.md");
        let (before, rest) = page.split_once(BEGIN).expect("the page says where the tables of options begin");
        let (_, after) = rest.split_once(END).expect("the page says where the tables of options end");
        let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", options());
        expect_test::expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md")].assert_eq(&wanted);
    }

    #[test]
    fn tables_have_as_many_cells_in_every_row() {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let pages = ALGORITHMS.iter().map(|algorithm| one(*algorithm)).chain([all()]).collect::<Vec<_>>().join("\n");
        for table in pages.split("\n\n").filter(|part| part.starts_with('|')) {
            let widths: Vec<usize> = table.lines().map(cells).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        }
    }
}
