//! docs/algorithms.md: the family as Markdown, made from the static facts of the members; and docs/options.md, made from the table
//! of options. Tests hold the files to it.

use dupsift_algorithms::algorithm::{ALGORITHMS, Algorithm, specs};

const HEAD: &str = "# The algorithms

Made from the registry by `dupsift algorithms --markdown`; do not edit. Every algorithm takes `verify=none|jaccard:T|lcs:T|cosine:T`,
which checks its pairs on the texts, and `as=NAME`, which names its output folder. A document that an algorithm cannot sign has
no pair there but with its exact copies; `run.json` counts such documents by reason. The steps of each stand on a page of their own,
exactly enough to write it again; [what all of them share](methods/common.md) stands on one more.
";

/// The whole page.
pub fn all() -> String {
    let mut page = format!("{HEAD}\n| name | alias | inputs | duplicates are |\n| --- | --- | --- | --- |\n");
    for algorithm in ALGORITHMS {
        let facts = algorithm.facts();
        let name = algorithm.name();
        let cells = [format!("[{name}](#{name})"), facts.aliases.join(", "), facts.inputs.into(), facts.summary.into()];
        page += &row(&cells);
    }
    for algorithm in ALGORITHMS {
        let name = algorithm.name();
        page += &format!("\n{}\nThe steps: [methods/{name}.md](methods/{name}.md)\n", one(*algorithm));
    }
    page
}

/// The section of one member.
pub fn one(algorithm: &dyn Algorithm) -> String {
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
        section += "\n| in place of several | value | stands for |\n| --- | --- | --- |\n";
        for short in algorithm.facts().shorthands {
            section += &row(&[format!("`{}`", short.name), short.kind.to_string(), short.help.into()]);
        }
    }
    section
}

/// The options of `run`, then those of other verbs, as docs/options.md has them.
#[cfg(test)]
fn options() -> String {
    use dupsift_engine::options::{OPTIONS, OptionSpec, Verb};

    let cells = |option: &OptionSpec, verb: Verb| {
        let none = if option.is_plain_switch() { "off" } else { "none" };
        let default = option.shown_of(verb).unwrap_or(none);
        [format!("`--{}`", option.name), default.to_owned(), option.help_of(verb).to_owned()]
    };
    let mut page = "| option | default | meaning |\n| --- | --- | --- |\n".to_string();
    for option in OPTIONS.iter().filter(|option| option.verbs.contains(&Verb::Run)) {
        page += &row(&cells(option, Verb::Run));
    }
    page += "\n| verb | option | default | meaning |\n| --- | --- | --- | --- |\n";
    for verb in [Verb::Compare, Verb::Stream, Verb::Purify] {
        let differs = |option: &&OptionSpec| {
            option.verbs.contains(&verb)
                && (!option.verbs.contains(&Verb::Run) || cells(option, verb) != cells(option, Verb::Run))
        };
        for option in OPTIONS.iter().filter(differs) {
            page += &row(&[&[verb.name().to_string()], &cells(option, verb)[..]].concat());
        }
    }
    page
}

/// One row of a table; a bar within a cell is spelled so that it is none.
fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Run the tests with UPDATE_EXPECT=1 to write the page anew.
    #[test]
    fn the_page_in_docs_is_this_one() {
        expect_test::expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/docs/algorithms.md")].assert_eq(&all());
    }

    #[test]
    fn the_page_of_the_family_says_when_to_take_each_member() {
        let page = include_str!("../../docs/family.md");
        let table = page.split("| if you want | take |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
        for algorithm in ALGORITHMS {
            assert!(table.contains(&format!("`{}", algorithm.name())), "{} is not in the table", algorithm.name());
        }
    }

    /// Run the tests with UPDATE_EXPECT=1 to write the tables anew.
    #[test]
    fn the_options_in_docs_are_those_of_the_table() {
        const BEGIN: &str = "<!-- The tables of options, made from crates/engine/src/options/table.rs by `make golden`; do not edit. -->\n";
        const END: &str = "<!-- The end of the tables of options. -->\n";
        let page = include_str!("../../docs/options.md");
        let (before, rest) = page.split_once(BEGIN).expect("the page says where the tables of options begin");
        let (_, after) = rest.split_once(END).expect("the page says where the tables of options end");
        let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", options());
        expect_test::expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md")].assert_eq(&wanted);
    }

    #[test]
    fn tables_have_as_many_cells_in_every_row() {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        for table in all().split("\n\n").filter(|part| part.starts_with('|')) {
            let widths: Vec<usize> = table.lines().map(cells).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        }
    }
}
