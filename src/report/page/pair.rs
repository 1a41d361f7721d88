//! Renders two documents side by side, with differences marked and identical parts folded.

use maud::{Markup, html};

use super::text::{beside, heading, plain, share};
use crate::report::difference::{Line, Piece, difference};
use crate::report::{counted, thousands};
use dupsift_algorithms::measure::Contained;
use dupsift_engine::job::RunReport;
use dupsift_study::{Explanation, Outcome, PairComparison, PairRelation, Review, ShownText};
use dupsift_text::side_by_side::{first_characters, language};

/// The number of characters of each text that are compared, starting shortly before the first difference.
const COMPARED: usize = 3_000;
/// The number of differing sentences that are shown for a pair.
const SHOWN: usize = 10;
/// The number of characters that are shown at each end of a stretch that is identical or too long to show.
const ENDS: usize = 70;
/// The maximum number of characters shown from a stretch that differs.
const LONG: usize = 400;

/// Returns everything about a pair except the line that unfolds it.
pub(crate) fn body(report: &RunReport, review: &Review, a: u64, b: u64) -> Markup {
    let texts = [a, b].map(|doc| review.texts.get(&doc));
    html! {
        (facts(report, review, a, b))
        @if let [Some(one), Some(other)] = texts { (differences(one, other, ": run the command below to see all of them.")) }
        @if let Some(line) = explain_line(report, review, a, b) { p.line { code { (line) } } }
    }
}

/// Returns the command that shows everything about a pair. The command contains ids if both can be typed and are unique; in an incremental
/// run, an indexed document may have the same id. Returns `None` if the command could not explain the pair, because both documents were
/// indexed before the run or because indexed texts are not kept.
pub(crate) fn explain_line(report: &RunReport, review: &Review, a: u64, b: u64) -> Option<String> {
    let out = report.options.get("out").and_then(|out| out.as_str()).unwrap_or("OUT");
    let is_later = report.index.as_ref().is_some_and(|index| index.first_doc > 0);
    let texts = [a, b].map(|doc| review.texts.get(&doc));
    let is_shown = texts.iter().all(Option::is_some) || review.no_texts.is_some();
    if is_later && (is_earlier(report, a.max(b)) || has_passed(report) || !is_shown) || is_of_standard_input(report) {
        return None;
    }
    let typed = |doc: u64| review.texts.get(&doc).map(|text| text.id.as_str()).filter(|id| can_be_typed(id));
    let documents = match (typed(a), typed(b)) {
        (Some(a), Some(b)) if a != b && !is_later && report.ids.duplicates == 0 => {
            format!("{} {}", quoted(a), quoted(b))
        }
        _ => format!("--docs {a} {b}"),
    };
    Some(format!("dupsift explain {} {documents}", quoted(&plain(out))))
}

/// Returns whether the texts came from standard input and are therefore no longer available.
fn is_of_standard_input(report: &RunReport) -> bool {
    report.inputs.iter().any(|file| file.path == "-")
}

/// Returns whether the run used a reference that is not an index, in which case the texts of the reference are not kept.
fn has_passed(report: &RunReport) -> bool {
    let reference = report.options.get("reference").and_then(|reference| reference.as_str());
    reference.is_some_and(|reference| report.index.as_ref().is_some_and(|index| index.folder != reference))
}

fn can_be_typed(id: &str) -> bool {
    !id.starts_with('-') && !id.chars().any(char::is_control) && plain(id) == id
}

/// Returns whether a document was indexed before the run, as part of an earlier batch or of a reference.
fn is_earlier(report: &RunReport, doc: u64) -> bool {
    report.index.as_ref().is_some_and(|index| doc < index.first_doc)
}

/// Returns the batch of a document that was indexed before the run.
fn from_batch(report: &RunReport, doc: u64) -> String {
    let index = report.index.as_ref().filter(|index| index.generation != index.read_generation);
    let batches = index.iter().flat_map(|index| &index.batches);
    match batches.take_while(|batch| batch.first_doc <= doc).last() {
        Some(batch) => format!(" (from batch {})", plain(&batch.name)),
        None => format!(" (from {})", earlier(report)),
    }
}

/// Returns the origin of indexed documents.
fn earlier(report: &RunReport) -> &'static str {
    let is_reference = report.index.as_ref().is_some_and(|index| index.generation == index.read_generation);
    if is_reference { "the reference" } else { "an earlier run" }
}

/// Quotes a word for the shell.
pub(crate) fn quoted(word: &str) -> String {
    let safe = |letter: char| letter.is_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the id of a document, or its number if the corpus was not read.
pub(crate) fn id_of(review: &Review, doc: u64) -> String {
    review.texts.get(&doc).map_or_else(|| format!("document {doc}"), |text| heading(&text.id))
}

/// Returns the names of two documents that are shown on the same line, with shared parts shortened.
pub(crate) fn names(review: &Review, a: u64, b: u64) -> [String; 2] {
    match (review.texts.get(&a), review.texts.get(&b)) {
        (Some(one), Some(other)) => [beside(&one.id, &other.id), beside(&other.id, &one.id)],
        _ => [id_of(review, a), id_of(review, b)],
    }
}

/// Returns the comparison of two documents, in the requested order.
fn compared(review: &Review, a: u64, b: u64) -> Option<PairComparison> {
    if let Some(found) = review.compared.get(&(a, b)) {
        return Some(found.clone());
    }
    let mut found = review.compared.get(&(b, a))?.clone();
    found.contained.swap(0, 1);
    found.numbers.swap(0, 1);
    found.more_numbers.swap(0, 1);
    found.stays.swap(0, 1);
    Some(found)
}

fn facts(report: &RunReport, review: &Review, a: u64, b: u64) -> Markup {
    let found = compared(review, a, b);
    let named = |doc: u64| {
        let whole = review.texts.get(&doc).map(|text| plain(&text.id));
        html! { bdi title=[whole] { (id_of(review, doc)) } @if is_earlier(report, doc) { (from_batch(report, doc)) } }
    };
    let numbers = |at: usize, found: &PairComparison| {
        let more = found.more_numbers[at];
        let told = found.numbers[at].iter().map(|number| plain(number).into_owned()).collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{told} and {} more", thousands(more as u64)) } else { told }
    };
    html! {
        dl.pair {
            div { dt { "A" } dd { (named(a)) } }
            div { dt { "B" } dd { (named(b)) } }
            @for (at, column) in review.columns.iter().enumerate() {
                @let values = [a, b].map(|doc| value(review, doc, at));
                @if values.iter().any(Option::is_some) {
                    div {
                        dt { (heading(column)) }
                        dd { @for (name, value) in [("A: ", &values[0]), (", B: ", &values[1])] { (name) bdi { (value.as_deref().unwrap_or("no value")) } } }
                    }
                }
            }
            @if let Some(found) = &found {
                div {
                    dt { "Contained in the other" }
                    dd { (part(found.contained[0])) " of A in B, " (part(found.contained[1])) " of B in A" }
                }
                @for (at, name) in [(0, "Numbers only in A"), (1, "Numbers only in B")] {
                    @if !found.numbers[at].is_empty() { div { dt { (name) } dd { (numbers(at, found)) } } }
                }
            }
            @if let Some(told) = review.relations.get(&(a.min(b), a.max(b))) { div { dt { "Relation" } dd { (relation(told, review.bounds.is_some())) } } }
            @if let Some(fate) = fate(report, review, a, b) { div { dt { "Result" } dd { (fate) } } }
        }
    }
}

/// Returns the value of a document in one of the columns that the page shows.
fn value(review: &Review, doc: u64, column: usize) -> Option<String> {
    review.texts.get(&doc)?.values.get(column)?.as_deref().map(heading)
}

/// Returns the relation between two documents, and whether both are kept because of their titles.
fn relation(pair: &PairRelation, asks_titles: bool) -> String {
    let what = match pair.relation.as_str() {
        "version" => "two versions of the same text",
        "contained" => "one text contained in the other",
        _ => "pages with the same template but different facts; both are kept",
    };
    let titles = if pair.other_title && asks_titles {
        "; their titles, code or labels refer to different things, so both are kept"
    } else {
        ""
    };
    format!("{what} ({}){titles}", pair.why)
}

/// Returns how much of one text is contained in the other text.
fn part(contained: Contained) -> String {
    match contained.grams.share() {
        None => "nothing".into(),
        Some(all) if all >= 1.0 => "all".into(),
        Some(share) => format!("{:.1}%", (100.0 * share).min(99.9)),
    }
}

/// Returns which of the two documents is removed, and why; `None` for a comparison, which removes nothing.
fn fate(report: &RunReport, review: &Review, a: u64, b: u64) -> Option<Markup> {
    report.removal.as_ref()?;
    let bounds = review.bounds;
    let found = compared(review, a, b);
    let why = |reason: &str| match reason {
        "copy" => "they are exact copies".to_string(),
        "seen" => format!("{} has the same text", earlier(report)),
        "chain" => "a chain of pairs links the two".to_string(),
        "emptied" => "too little text remained after repeated passages were cut".to_string(),
        _ => bounds.map_or("being in a pair is enough".into(), |bounds| {
            format!(
                "the kept document contains at least {}% of its text and {}% of its numbers",
                percent(bounds.grams),
                percent(bounds.numbers)
            )
        }),
    };
    let of = |doc: u64, other: u64| outcome(report, review, doc, other);
    let one = |name: &str, other_name: &str, doc: u64, other: u64, at: usize| match of(doc, other) {
        Outcome::Indexed => html! { (name) " was indexed earlier. " },
        Outcome::RemovedForOther(reason) => {
            html! { (name) " was removed in favor of " (other_name) ": " (why(reason)) ". " }
        }
        Outcome::NoneKept => {
            html! { (name) " was removed, because keep=none also removes the preferred document. " }
        }
        Outcome::RemovedForThird(kept, reason) => {
            let batch = if is_earlier(report, kept) { from_batch(report, kept) } else { String::new() };
            html! { (name) " was removed in favor of another document, " bdi { (id_of(review, kept)) } (batch) ": " (why(reason)) ". " }
        }
        // No reason is shown if the other document was removed in favor of this document.
        Outcome::Kept => {
            let is_kept_for = matches!(of(other, doc), Outcome::RemovedForOther(_));
            match found.as_ref().and_then(|found| found.stays[at]).filter(|_| !is_kept_for) {
                Some(reason) => html! { (name) " was kept (" (reason) "). " },
                None => html! { (name) " was kept. " },
            }
        }
    };
    Some(html! { (one("A", "B", a, b, 0)) (one("B", "A", b, a, 1)) })
}

/// Returns a short form of [`fate`] for the line that unfolds the pair.
fn fate_in_short(report: &RunReport, review: &Review, [a, b]: [u64; 2]) -> Option<&'static str> {
    report.removal.as_ref()?;
    let outcomes = [outcome(report, review, a, b), outcome(report, review, b, a)];
    let is_removed = |outcome: Outcome<'_>| !matches!(outcome, Outcome::Kept | Outcome::Indexed);
    Some(match outcomes {
        [Outcome::Indexed, Outcome::Indexed] => "both were indexed earlier",
        [Outcome::RemovedForOther(_), _] => "the first was removed",
        [_, Outcome::RemovedForOther(_)] => "the second was removed",
        [one, other] => match (is_removed(one), is_removed(other)) {
            (false, false) => "both were kept",
            (true, false) => "the first was removed in favor of another document",
            (false, true) => "the second was removed in favor of another document",
            (true, true) => "both were removed in favor of another document",
        },
    })
}

/// Returns what happened to a document, as seen from the other document of a pair.
fn outcome<'r>(report: &RunReport, review: &'r Review, doc: u64, other: u64) -> Outcome<'r> {
    let removal = review.removed.fates.get(&doc).map(|fate| (fate.kept, fate.reason.as_str()));
    Outcome::of(is_earlier(report, doc), removal, other)
}

fn percent(share: f64) -> String {
    format!("{}", (1000.0 * share).round() / 10.0)
}

/// Returns the two texts with their differences marked.
fn differences(a: &ShownText, b: &ShownText, where_all_are: &str) -> Markup {
    let same = same_beginning(&a.text, &b.text);
    let (rest_a, cut_a) = beginning(&a.text[same..]);
    let (rest_b, cut_b) = beginning(&b.text[same..]);
    let is_cut = cut_a || cut_b || a.longer || b.longer;
    if rest_a.is_empty() && rest_b.is_empty() {
        return html! { p.muted { @if is_cut { "The parts shown here are the same." } @else { "The texts are the same." } } };
    }
    let found = difference(rest_a, rest_b);
    let languages = [language(&a.text), language(&b.text)];
    html! {
        div.diff {
            @if same > 0 { p.same { "The first " (counted(a.text[..same].chars().count() as u64, "character")) " are the same" (context(&a.text[..same])) } }
            (lines(&found.lines, languages, where_all_are))
            @if is_cut { p.same { "The rest is not shown here." } }
        }
    }
}

/// The styles for a marked difference that is embedded in a different page. The colors suit light and dark pages.
const STYLE: &str = "\
.dupsift-diff .both { display: grid; grid-template-columns: 1fr 1fr; gap: 1em; border-top: 1px solid rgba(128, 128, 128, .4); }\n\
.dupsift-diff .both > div { min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: isolate; }\n\
.dupsift-diff .same { opacity: .7; margin: .2em 0; }\n\
.dupsift-diff del { background: rgba(220, 60, 60, .25); }\n\
.dupsift-diff ins { background: rgba(50, 170, 80, .25); }\n";

/// Returns the two explained documents as HTML with their differences marked, along with the required styles.
pub fn marked(explained: &Explanation) -> String {
    let [a, b] = explained.documents.each_ref().map(|document| ShownText {
        id: document.id.clone(),
        text: document.text.clone(),
        ..ShownText::default()
    });
    let id = |text: &ShownText| html! { bdi title=(plain(&text.id)) { (heading(&text.id)) } };
    html! {
        div.dupsift-diff {
            style { (maud::PreEscaped(STYLE)) }
            div.both { div { "a: " (id(&a)) } div { "b: " (id(&b)) } }
            (differences(&a, &b, ", not shown here."))
        }
    }
    .into_string()
}

/// Returns the end of the identical text before the first difference.
fn context(text: &str) -> Markup {
    let begin = text.char_indices().rev().nth(ENDS).map_or(0, |(at, _)| at);
    html! { ": " span lang=(language(text)) { @if begin > 0 { "…" } (plain(text[begin..].trim())) } }
}

fn lines(lines: &[Line], languages: [&str; 2], where_all_are: &str) -> Markup {
    let mut rows = Vec::new();
    let (mut equal, mut left_out) = (Vec::new(), 0);
    let fold = |equal: &mut Vec<&String>, rows: &mut Vec<Markup>| {
        if let Some(first) = equal.first() {
            let more = equal.len() - 1;
            rows.push(html! {
                p.same {
                    span lang=(languages[0]) { (plain(&ends(first))) }
                    @if more > 0 { " … " (counted(more as u64, "more sentence")) ", the same in both" }
                }
            });
        }
        equal.clear();
    };
    let mut shown = 0;
    for line in lines {
        if let Line::Equal(text) = line {
            equal.push(text);
            continue;
        }
        shown += 1;
        if shown > SHOWN {
            left_out += 1;
            equal.clear();
            continue;
        }
        fold(&mut equal, &mut rows);
        rows.push(row(line, languages));
    }
    fold(&mut equal, &mut rows);
    html! {
        @for row in rows { (row) }
        @if left_out > 0 { p.same { (counted(left_out, "more sentence")) " with differences" (where_all_are) } }
    }
}

fn row(line: &Line, languages: [&str; 2]) -> Markup {
    let whole = |text: &str| vec![Piece { text: text.to_string(), changed: true }];
    let (left, right) = match line {
        Line::Equal(_) => (Vec::new(), Vec::new()),
        Line::Changed(a, b) => (a.clone(), b.clone()),
        Line::TooLong(a, b) => (whole(a), whole(b)),
        Line::Left(a) => (whole(a), Vec::new()),
        Line::Right(b) => (Vec::new(), whole(b)),
    };
    html! {
        div.both {
            div.a lang=(languages[0]) dir="auto" {
                @for piece in &left { @if piece.changed { del { (plain(&long(&piece.text))) } } @else { (plain(&ends(&piece.text))) } }
            }
            div.b lang=(languages[1]) dir="auto" {
                @for piece in &right { @if piece.changed { ins { (plain(&long(&piece.text))) } } @else { (plain(&ends(&piece.text))) } }
            }
        }
    }
}

/// Returns a stretch that is the same in both texts, without its middle if it is long.
fn ends(text: &str) -> String {
    let count = text.chars().count();
    if count <= 2 * ENDS + 10 {
        return text.to_string();
    }
    let first: String = text.chars().take(ENDS).collect();
    let last: String = text.chars().skip(count - ENDS).collect();
    format!("{first} … {last}")
}

/// Returns a differing stretch, without its end if it is long.
fn long(text: &str) -> String {
    match first_characters(text, LONG) {
        Some(first) => {
            let more = text[first.len()..].chars().count();
            format!("{first} … ({} more)", counted(more as u64, "character"))
        }
        None => text.to_string(),
    }
}

/// Returns the number of identical bytes at the beginning of two texts, up to the end of a line or sentence.
fn same_beginning(a: &str, b: &str) -> usize {
    if a == b {
        return a.len();
    }
    let same = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y).last();
    let end = same.map_or(0, |((at, letter), _)| at + letter.len_utf8());
    let breaks =
        a[..end].char_indices().rev().find(|(_, letter)| matches!(letter, '\n' | '.' | '。' | '!' | '?' | '！' | '？'));
    breaks.map_or(0, |(at, letter)| at + letter.len_utf8())
}

fn beginning(text: &str) -> (&str, bool) {
    first_characters(text, COMPARED).map_or((text, false), |first| (first, true))
}

/// Returns the line that unfolds a pair.
pub(crate) fn summary(
    report: &RunReport,
    review: &Review,
    algorithm: usize,
    similarity: Option<f32>,
    docs: [u64; 2],
) -> Markup {
    let label = report.algorithms.get(algorithm).map_or_else(String::new, |one| plain(&one.label).into_owned());
    let [first, second] = names(review, docs[0], docs[1]);
    html! {
        summary {
            strong { @match similarity { Some(similarity) => (share(similarity)), None => "linked by a chain" } }
            " " (label) ": " bdi { (first) } " – " bdi { (second) }
            @if let Some(fate) = fate_in_short(report, review, docs) { " " small.muted { "(" (fate) ")" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str) -> String {
        let text = |text: &str| ShownText { text: text.into(), ..ShownText::default() };
        differences(&text(a), &text(b), ".").into_string()
    }

    #[test]
    fn what_differs_is_marked_and_the_rest_is_folded() {
        let same = "One sentence. ".repeat(30);
        let page = shown(&format!("{same}It sleeps all day long."), &format!("{same}It sleeps all night long."));
        assert!(
            page.contains("It sleeps all <del>day</del> long.")
                && page.contains("It sleeps all <ins>night</ins> long.")
        );
        assert!(page.contains("The first 419 characters are the same") && page.len() < 700, "{page}");
        assert_eq!(shown("a b", "a b"), "<p class=\"muted\">The texts are the same.</p>");
    }

    #[test]
    fn a_text_that_the_other_lacks_is_marked_whole_but_not_shown_whole() {
        let page = shown("Alone.", &format!("Alone. {}", "слово ".repeat(200)));
        assert!(page.contains("<ins>слово") && page.contains("more)</ins>") && !page.contains("<del>"), "{page}");
        assert!(shown("", "x").contains("<ins>x</ins>"));
    }

    #[test]
    fn many_differences_are_counted() {
        let text =
            |last: &str| (0..40).map(|at| format!("Sentence number {at} ends with {last}.\n")).collect::<String>();
        let page = shown(&text("one"), &text("two"));
        assert_eq!(page.matches("<ins>").count(), SHOWN);
        assert!(page.contains("30 more sentences with differences"), "{page}");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(["out/a-b", "a b", "it's", ""].map(quoted), ["out/a-b", "'a b'", "'it'\\''s'", "''"]);
    }
}
