//! Formats the output of `dupsift explain`: the verdict, the difference, the scores and the keys.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::{Screen, columns, safe};
use super::containment::{contained, verdict};
use super::difference::difference;
use super::{counted, table, table_of_numbers, thousands};
use dupsift_core::number::share;
use dupsift_study::{
    ExplainedAlgorithm, ExplainedDocument, ExplainedKey, ExplainedOverlap, ExplainedRow, Explanation, Verdict,
};

/// Returns the complete output: the verdict, the difference, the scores and the keys.
pub fn explanation(explained: &Explanation, screen: Screen) -> String {
    let width = u16::try_from(screen.width).unwrap_or(u16::MAX);
    let mut text = format!("{}\n", verdict(explained));
    explained.notes.iter().for_each(|note| text += &format!("note: {}\n", safe(note)));
    text.push('\n');
    for (name, document) in ["a", "b"].iter().zip(&explained.documents) {
        text += &format!("{name}: {}\n", head(document));
    }
    text.push('\n');
    text += &texts(explained, screen);
    explained.documents.iter().for_each(|document| text += &struck_out(document, screen));
    text.push('\n');
    let rows = explained.algorithms.iter().map(|one| {
        let pair = match one.verdict {
            Verdict::Pair => "yes",
            Verdict::Template => "no, same template",
            Verdict::PairNotWritten => "yes, not written",
            Verdict::NoSignature => "no signature",
            Verdict::NoCommonKey
            | Verdict::OtherScope
            | Verdict::SameScope
            | Verdict::SketchesDiffer
            | Verdict::NotCompared
            | Verdict::BelowThreshold
            | Verdict::Undecided
            | Verdict::LeftOut => "no",
        };
        [one.label.clone(), pair.into(), score(one), safe(&why(one))]
    });
    text += &table(["algorithm", "pair", "score", "why"], rows, Some(width));
    text += &clusters(explained);
    text += &contained(explained, width);
    text += "\nsimilarity of the texts\n\n";
    text += &measures(explained);
    if screen.full {
        text += "\nkeys in hexadecimal (= marks shared keys)\n\n";
        explained.algorithms.iter().for_each(|one| text += &signatures(one, screen));
    } else {
        text += "\nshared keys, and the words that they stand for (--full shows all keys)\n\n";
        explained.algorithms.iter().for_each(|one| text += &common_keys(one));
    }
    text
}

/// The maximum number of shared keys whose words are shown.
const MOST_SAID: usize = 6;
/// The maximum number of characters shown for the words of a shared key. The words may be whole sentences.
const LONGEST_SAID: usize = 80;

/// Returns the words of a key, truncated if they are long.
fn shown_words(words: &str) -> String {
    words.char_indices().nth(LONGEST_SAID).map_or_else(|| words.to_owned(), |(end, _)| format!("{}…", &words[..end]))
}

/// Returns the number of keys that two documents have in common, and the words of these keys.
fn common_keys(one: &ExplainedAlgorithm) -> String {
    let [of_a, of_b] = one.keys();
    if let Some(reason) = one.unsigned.iter().flatten().next() {
        return format!("{}: none ({})\n", one.label, safe(reason));
    }
    let equal = one.rows.iter().filter(|row| row.equal);
    let mut said: Vec<&str> = equal.filter_map(|row| row.a.as_ref()?.says.as_deref()).collect();
    let mut seen = BTreeSet::new();
    said.retain(|words| seen.insert(*words));
    let more = if said.len() > MOST_SAID { ", ..." } else { "" };
    said.truncate(MOST_SAID);
    let said: Vec<String> = said.into_iter().map(shown_words).collect();
    let words = if said.is_empty() { String::new() } else { format!(": {}{more}", safe(&said.join(", "))) };
    format!("{}: {} of {}{words}\n", one.label, thousands(one.common_keys), thousands(of_a.max(of_b)))
}

/// Returns the two texts side by side.
fn texts(explained: &Explanation, screen: Screen) -> String {
    let [a, b] = &explained.documents;
    let headings = [a, b].map(|document| safe(&document.id));
    let are_equal = explained.exact_copies || a.text == b.text;
    let said = match (are_equal, explained.exact_copies) {
        (true, true) => "the texts are byte-for-byte identical\n",
        (true, false) => {
            "the texts are identical, but other columns, or parts that cannot be read such as pictures, differ\n"
        }
        (false, _) => "",
    };
    if are_equal && !screen.full {
        return said.to_owned();
    }
    said.to_owned() + &columns(&difference(&a.text, &b.text), [&headings[0], &headings[1]], screen)
}

/// The number of characters of kept text that are shown on either side of a passage, unless everything is shown.
const AROUND: usize = 120;

/// Returns the text of a document with its repeated passages struck out; empty if there are no repeated passages.
fn struck_out(document: &ExplainedDocument, screen: Screen) -> String {
    if document.passages.is_empty() {
        return String::new();
    }
    let (open, close) = if screen.colours { ("\u{1b}[9m", "\u{1b}[29m") } else { ("[-", "-]") };
    let passages = counted(document.passages.len() as u64, "repeated passage");
    let mut text = format!("\n{}: {passages}, struck out\n\n", safe(&document.id));
    let mut kept = 0;
    let part = |from: usize, to: usize| document.text.get(from..to).unwrap_or_default();
    let lines = |part: &str| part.split('\n').map(safe).collect::<Vec<_>>().join("\n");
    for one in &document.passages {
        let (start, end) = (one.start_byte as usize, one.end_byte as usize);
        text += &lines(&shortened(part(kept, start), kept > 0, true, screen.full));
        let struck = part(start, end);
        let content = struck.trim_end();
        text += &format!("{open}{}{close}{}", lines(content), lines(&struck[content.len()..]));
        kept = end;
    }
    text += &lines(&shortened(part(kept, document.text.len()), true, false, screen.full));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Returns a part of the text that is kept. If the part is long, only the text next to the passages before and after it is shown.
fn shortened(part: &str, has_before: bool, has_after: bool, full: bool) -> String {
    let characters = part.chars().count();
    let (first, last) = (if has_before { AROUND } else { 0 }, if has_after { AROUND } else { 0 });
    if full || characters <= first + last + 1 {
        return part.to_owned();
    }
    let first: String = part.chars().take(first).collect();
    let last: String = part.chars().skip(characters - last).collect();
    format!("{first}…{last}")
}

fn head(document: &ExplainedDocument) -> String {
    format!(
        "{id} (document {}, {file} row {}): {characters}, {words}",
        document.doc,
        document.row,
        id = safe(&document.id),
        file = safe(&document.file),
        characters = counted(document.characters, "character"),
        words = counted(document.words, "word"),
    )
}

fn score(one: &ExplainedAlgorithm) -> String {
    one.similarity().map_or_else(String::new, share)
}

fn why(one: &ExplainedAlgorithm) -> String {
    let Some(pair) = &one.pair else { return one.why.clone() };
    let distance = pair.distance.map_or(String::new(), |distance| format!("; distance {}", short(distance)));
    let matched = if pair.matched_by == "equal" { String::new() } else { format!("; matched by {}", pair.matched_by) };
    format!("{}{distance}{matched}", one.why)
}

/// Formats a distance: bits as whole numbers, all other distances to four decimal places.
fn short(distance: f32) -> String {
    if distance.fract() == 0.0 { format!("{distance}") } else { format!("{distance:.4}") }
}

/// Returns the clusters of the two documents; algorithms with the same clusters share a line.
fn clusters(explained: &Explanation) -> String {
    let mut lines: BTreeMap<(usize, String), Vec<&str>> = BTreeMap::new();
    for one in &explained.algorithms {
        let told = match &one.clusters {
            [Some(a), Some(b)] if a == b => (
                0,
                format!("both are in the cluster of {} ({})", safe(&a.representative_id), counted(a.size, "document")),
            ),
            [Some(a), Some(b)] => (
                1,
                format!(
                    "a is in the cluster of {}, and b is in the cluster of {}",
                    safe(&a.representative_id),
                    safe(&b.representative_id)
                ),
            ),
            [Some(a), None] => {
                (2, format!("a is in the cluster of {}; b is not in a cluster", safe(&a.representative_id)))
            }
            [None, Some(b)] => {
                (3, format!("b is in the cluster of {}; a is not in a cluster", safe(&b.representative_id)))
            }
            [None, None] => continue,
        };
        lines.entry(told).or_default().push(&one.label);
    }
    let lines: Vec<String> =
        lines.iter().map(|((_, told), labels)| format!("{told}: {}\n", labels.join(", "))).collect();
    if lines.is_empty() { "\nneither is in a cluster\n".into() } else { format!("\n{}", lines.concat()) }
}

fn measures(explained: &Explanation) -> String {
    let measures = &explained.measures;
    let part = |part: Option<f64>| part.map_or_else(|| "-".into(), share);
    let row = |name: &str, ExplainedOverlap { jaccard, a_in_b, b_in_a }: ExplainedOverlap| {
        [name.to_string(), share(jaccard), part(a_in_b), part(b_in_a)]
    };
    let rows = [
        row("5-character shingles", measures.five_characters),
        row("5-word shingles", measures.five_words),
        row("words", measures.words),
    ];
    let lcs = match (measures.lcs, measures.lcs_of) {
        (Some(lcs), Some(of)) => format!("2 LCS / (a + b) in {of}: {}", share(lcs)),
        _ => "the texts are too long to compute 2 LCS / (a + b)".into(),
    };
    format!(
        "{}\ncosine of word counts {}; {} in common\n{lcs}\n",
        table_of_numbers(["", "jaccard", "a in b", "b in a"], rows),
        share(measures.cosine),
        counted(measures.common_words, "word"),
    )
}

fn signatures(one: &ExplainedAlgorithm, screen: Screen) -> String {
    if let [Some(a), Some(b)] = &one.unsigned {
        let both = if a == b { a.clone() } else { format!("{a}; {b}") };
        return format!("{}: none ({both})\n", one.label);
    }
    let [a, b] = one.keys();
    let rows = if a == b { counted(a, "key") } else { format!("{a} and {b} keys") };
    let mut text = format!("{}: {rows}, {} shared\n", one.label, thousands(one.common_keys));
    for (name, reason) in ["a", "b"].iter().zip(&one.unsigned) {
        if let Some(reason) = reason {
            text += &format!("  {name} has no keys: {reason}\n");
        }
    }
    // Identical keys come first, because they are the reason why the documents are compared.
    let (equal, other): (Vec<&ExplainedRow>, Vec<&ExplainedRow>) = one.rows.iter().partition(|row| row.equal);
    let shown: Vec<&ExplainedRow> = equal.iter().chain(&other).copied().collect();
    let wide = shown.iter().flat_map(|row| [&row.a, &row.b]).flatten().map(|key| key.key.len()).max().unwrap_or(0);
    let position = one.positions.saturating_sub(1).to_string().len();
    // The width must leave room for two keys, the position, the sign and the spaces between them.
    let keys = wide.min(screen.width.saturating_sub(position + 7) / 2).max(8);
    let mut before = [None, None];
    for row in shown {
        let key = |key: &Option<ExplainedKey>| key.as_ref().map_or_else(|| "-".into(), |key| cut(&key.key, keys));
        let sign = if row.equal { '=' } else { ' ' };
        let line = format!("  {:>position$} {sign} {:keys$} {}", row.position, key(&row.a), key(&row.b));
        text += line.trim_end();
        text.push('\n');
        let says = [&row.a, &row.b].map(|key| key.as_ref().and_then(|key| key.says.clone()));
        // Words that describe the complete document are printed once, below its first row.
        if says != before && says != [None, None] {
            let said = says.each_ref().map(|says| says.as_deref().unwrap_or("-"));
            text += &format!("  {:>position$}   {}\n", "", said.join(" | "));
        }
        before = says;
    }
    text
}

/// Returns a key, truncated if it is too long.
fn cut(key: &str, columns: usize) -> String {
    if key.len() <= columns { key.to_string() } else { format!("{}..", &key[..columns.saturating_sub(2)]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_study::{
        ExplainedCheck, ExplainedCluster, ExplainedContained, ExplainedMeasures, ExplainedPair, ExplainedPassage,
        ExplainedRemoval,
    };

    fn document(id: &str, doc: u64, text: &str, removed: Option<ExplainedRemoval>) -> ExplainedDocument {
        ExplainedDocument {
            id: id.into(),
            doc,
            file: "pages.jsonl".into(),
            row: doc,
            characters: text.chars().count() as u64,
            words: text.split(' ').count() as u64,
            earlier: false,
            removed,
            passages: Vec::new(),
            text: text.into(),
        }
    }

    fn key(key: &str, says: Option<&str>) -> Option<ExplainedKey> {
        Some(ExplainedKey { key: key.into(), order: 0, sketch: String::new(), says: says.map(String::from) })
    }

    fn example() -> Explanation {
        let removed = ExplainedRemoval {
            kept_id: "fox-1".into(),
            kept_doc: 0,
            similarity: Some(0.95),
            algorithm: "minhash".into(),
            reason: "pair".into(),
        };
        let cluster = || Some(ExplainedCluster { representative_id: "fox-1".into(), representative_doc: 0, size: 3 });
        let pair = ExplainedPair { similarity: 0.95, matched_by: "equal".into(), verified: true, ..Default::default() };
        let row = |position, a, b, equal| ExplainedRow { position, a, b, equal };
        let minhash = ExplainedAlgorithm {
            label: "minhash".into(),
            recipe: "minhash:bands=14".into(),
            verdict: Verdict::Pair,
            why: "2 shared keys, and the check jaccard:0.7 gives 0.950".into(),
            pair: Some(pair),
            score: None,
            checks: vec![ExplainedCheck { name: "jaccard:0.7".into(), passes: true, similarity: Some(0.95) }],
            words: None,
            bits_apart: None,
            unsigned: [None, None],
            clusters: [cluster(), cluster()],
            positions: 14,
            common_keys: 2,
            rows: (0..7)
                .map(|at| {
                    row(
                        at,
                        key("00000000000000aa", None),
                        key(if at % 3 == 1 { "00000000000000aa" } else { "b" }, None),
                        at % 3 == 1,
                    )
                })
                .collect(),
        };
        let titles = ExplainedAlgorithm {
            label: "sentence_marks".into(),
            verdict: Verdict::NoSignature,
            why: "fox-2 has no signature: no marks".into(),
            pair: None,
            checks: Vec::new(),
            unsigned: [None, Some("no marks".into())],
            clusters: [None, None],
            common_keys: 0,
            rows: vec![row(0, key("01", Some("3 marks")), None, false)],
            ..minhash.clone()
        };
        let overlap = ExplainedOverlap { jaccard: 0.5, a_in_b: Some(0.75), b_in_a: None };
        Explanation {
            documents: [
                document("fox-1", 0, "It sleeps all day long.", None),
                document("fox-2\u{1b}[2J", 1, "It sleeps all night long.", Some(removed)),
            ],
            exact_copies: false,
            pair: true,
            algorithms: vec![minhash, titles],
            measures: ExplainedMeasures {
                five_characters: overlap,
                five_words: overlap,
                words: overlap,
                common_words: 4,
                cosine: 0.8,
                lcs: Some(0.875),
                lcs_of: Some("characters"),
            },
            contained: [
                ExplainedContained {
                    common_grams: 3,
                    grams: 4,
                    common_numbers: 0,
                    numbers: 0,
                    common_facts: 0,
                    facts: 0,
                    stays: Some("unique text"),
                },
                ExplainedContained {
                    common_grams: 3,
                    grams: 3,
                    common_numbers: 0,
                    numbers: 0,
                    common_facts: 0,
                    facts: 0,
                    stays: None,
                },
            ],
            removes: true,
            remove_if: "contained:0.8:0.9".into(),
            notes: vec!["a note".into()],
        }
    }

    #[test]
    fn the_whole_answer() {
        let screen = Screen { width: 80, colours: false, full: false };
        expect_test::expect![[r#"
            1 of 2 algorithms paired a and b (minhash); a was kept; b was removed in favor of a, which contains 3 of its 3 3-grams.
            note: a note

            a: fox-1 (document 0, pages.jsonl row 0): 23 characters, 5 words
            b: fox-2␛[2J (document 1, pages.jsonl row 1): 25 characters, 5 words

            fox-1                                    fox-2␛[2J
            -------------------------------------------------------------------------------
            It sleeps all [-day-] long.            | It sleeps all {+night+} long.

             algorithm        pair           score   why
            --------------------------------------------------------------------------
             minhash          yes            0.950   2 shared keys, and the check
                                                     jaccard:0.7 gives 0.950
             sentence_marks   no signature           fox-2 has no signature: no marks

            both are in the cluster of fox-1 (3 documents): minhash

            share of each document that is contained in the other

                      3-grams   numbers   --remove-if contained:0.8:0.9
            ------------------------------------------------------------
             a in b   3 of 4    0 of 0    a is kept
             b in a   3 of 3    0 of 0    enough to remove b

            similarity of the texts

                                    jaccard   a in b   b in a
            --------------------------------------------------
             5-character shingles     0.500    0.750        -
             5-word shingles          0.500    0.750        -
             words                    0.500    0.750        -

            cosine of word counts 0.800; 4 words in common
            2 LCS / (a + b) in characters: 0.875

            shared keys, and the words that they stand for (--full shows all keys)

            minhash: 2 of 7
            sentence_marks: none (no marks)
        "#]].assert_eq(&explanation(&example(), screen));
    }

    #[test]
    fn no_line_is_wider_than_the_screen_and_all_rows_are_shown_where_asked_for() {
        let text = explanation(&example(), Screen { width: 60, colours: false, full: true });
        assert!(!text.contains("further row") && !text.contains('\u{1b}'));
        let from = text.find("algorithm   ").unwrap();
        for line in text[from..].lines() {
            assert!(line.chars().count() <= 60, "{line:?}");
        }
    }

    #[test]
    fn repeated_passages_are_struck_out() {
        let mut example = example();
        let text = format!("{}Rights reserved.\nMore.", "a".repeat(300));
        let passage = ExplainedPassage { start_byte: 300, end_byte: 317, copies: 9, first_doc: Some(0) };
        example.documents[1] = ExplainedDocument { passages: vec![passage], ..document("b", 1, &text, None) };
        let screen = Screen { width: 80, colours: false, full: false };
        let said = explanation(&example, screen);
        let end = format!("\nb: 1 repeated passage, struck out\n\n…{}[-Rights reserved.-]\nMore.\n", "a".repeat(120));
        assert!(said.contains(&end), "{said}");
        assert!(explanation(&example, Screen { full: true, ..screen }).contains(&"a".repeat(300)));
        assert!(
            explanation(&example, Screen { colours: true, ..screen }).contains("\u{1b}[9mRights reserved.\u{1b}[29m")
        );
    }

    #[test]
    fn equal_texts_are_not_shown_twice() {
        let mut same = example();
        same.documents[1].text = same.documents[0].text.clone();
        let differs =
            "the texts are identical, but other columns, or parts that cannot be read such as pictures, differ\n\n";
        assert!(explanation(&same, Screen { width: 80, colours: false, full: false }).contains(differs));
        same.exact_copies = true;
        let screen = Screen { width: 80, colours: false, full: false };
        assert!(explanation(&same, screen).contains("\nthe texts are byte-for-byte identical\n\n"));
        assert!(explanation(&same, Screen { full: true, ..screen }).contains("\nIt sleeps all day long.  "));
    }
}
