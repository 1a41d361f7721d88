//! What ran: the corpus, when, by which command, with which version and preset.

use maud::{Markup, html};

use super::pair::quoted;
use super::text::plain;
use crate::job::RunReport;
use crate::report::counted;
use crate::stage::preset::PRESETS;
use crate::stage::recipe::Recipe;

/// Inputs that are named.
const NAMED: usize = 3;

/// The list.
pub fn section(report: &RunReport) -> Markup {
    let command = report.command.iter().map(|word| quoted(&plain(word))).collect::<Vec<_>>().join(" ");
    html! {
        dl.ran {
            div { dt { "Corpus" } dd { (corpus(report)) } }
            @if !report.started.is_empty() { div { dt { "When" } dd { (moment(&report.started)) } } }
            div { dt { "Preset" } dd { (preset(report)) } }
            div { dt { "Version" } dd { "dupsift " (plain(&report.dupsift)) } }
            @if !command.is_empty() { div { dt { "Command" } dd { code { (command) } } } }
        }
    }
}

fn corpus(report: &RunReport) -> String {
    let inputs = report.options.get("input").and_then(|inputs| inputs.as_array());
    let inputs: Vec<&str> = inputs.into_iter().flatten().filter_map(|input| input.as_str()).collect();
    let files = counted(report.inputs.len() as u64, "file");
    let named = inputs.iter().take(NAMED).map(|input| plain(input)).collect::<Vec<_>>().join(", ");
    match inputs.len().saturating_sub(NAMED) {
        _ if inputs.is_empty() => files,
        0 => format!("{named} ({files})"),
        more => format!("{named} and {} ({files})", counted(more as u64, "more input")),
    }
}

/// `2026-11-23 14:21:25 UTC` of `2026-11-23T14:21:25.115110Z`; another form stays as it is.
fn moment(time: &str) -> String {
    let Some((date, rest)) = time.split_once('T') else { return plain(time).into_owned() };
    match rest.split_once('.') {
        Some((clock, end)) if end.ends_with('Z') => format!("{} {} UTC", plain(date), plain(clock)),
        _ => plain(time).into_owned(),
    }
}

/// The preset that has these algorithms, or that none has.
fn preset(report: &RunReport) -> String {
    let labels = report.algorithms.iter().map(|one| plain(&one.label).into_owned()).collect::<Vec<_>>().join(", ");
    let same = |algorithms: &str| {
        let parsed = Recipe::parse_algorithms(algorithms).ok();
        parsed.is_some_and(|parsed| {
            parsed.iter().map(ToString::to_string).eq(report.recipe.algorithms.iter().map(String::from))
        })
    };
    match PRESETS.iter().find(|preset| same(preset.algorithms)) {
        Some(preset) => format!("{} ({labels})", preset.name),
        None => format!("none: {labels}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::RecipeReport;

    #[test]
    fn a_preset_is_known_by_its_algorithms() {
        let algorithms = |text: &str| {
            Recipe::parse_algorithms(text).expect("a recipe").iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        for known in PRESETS {
            let recipe = RecipeReport { algorithms: algorithms(known.algorithms), ..RecipeReport::default() };
            let told = preset(&RunReport { recipe, ..RunReport::default() });
            let first = PRESETS.iter().find(|one| algorithms(one.algorithms) == algorithms(known.algorithms));
            assert!(told.starts_with(first.expect("itself at least").name), "{told}");
        }
        let recipe = RecipeReport { algorithms: algorithms("tf,minhash:rows=3"), ..RecipeReport::default() };
        assert!(preset(&RunReport { recipe, ..RunReport::default() }).starts_with("none"));
    }

    #[test]
    fn times_are_read_by_people() {
        assert_eq!(moment("2026-11-23T14:21:25.115110Z"), "2026-11-23 14:21:25 UTC");
        assert_eq!(["yesterday", "2026T1"].map(moment), ["yesterday", "2026T1"]);
    }
}
