//! Formats the lists of `dupsift show`. Ids are never shortened, and are quoted so that they can be pasted into a shell.

use std::borrow::Cow;
use std::path::Path;

use bytesize::ByteSize;
use unicode_width::UnicodeWidthStr;

use super::page::{percent, quoted};
use super::tables::table_of_numbers;
use super::{counted, thousands};
use dupsift_core::number::{counted_as, share};
use dupsift_study::{LabelSample, Listed, ListedRow, Listing, RuleFigures, RuleTable};

/// Returns a list as a table, or with one block per row if the table is wider than `width` columns.
pub fn listing(listing: &Listing, out: &Path, width: usize) -> String {
    let mut header = match (listing.what, listing.worst_first) {
        (Listed::Removed, true) => {
            vec!["doubt", "reason", "similarity", "contained", "numbers", "note", "id", "kept instead"]
        }
        (Listed::Removed, false) => vec!["reason", "similarity", "contained", "numbers", "id", "kept instead"],
        (Listed::KeptSimilar, true) => {
            vec!["doubt", "similarity", "contained", "numbers", "kept because", "id", "id"]
        }
        (Listed::KeptSimilar, false) => vec!["similarity", "contained", "numbers", "kept because", "id", "id"],
        (Listed::Clusters, true) => vec!["doubt", "size", "removed", "least similar", "representative"],
        (Listed::Clusters, false) => vec!["size", "removed", "least similar", "representative"],
    };
    let mut rows: Vec<Vec<String>> = listing.rows.iter().map(|row| cells(row, listing.worst_first)).collect();
    let kept_in = |row: &ListedRow| match row {
        ListedRow::Removal(row) => row.kept_in.clone(),
        _ => None,
    };
    if listing.rows.iter().any(|row| kept_in(row).is_some()) {
        header.push("kept in");
        for (cells, row) in rows.iter_mut().zip(&listing.rows) {
            cells.push(kept_in(row).map_or_else(|| "-".to_owned(), |name| typed(&name)));
        }
    }
    rows_of(&header, &rows, width) + &footer(listing, out)
}

/// Returns the cells of a row.
fn cells(row: &ListedRow, worst_first: bool) -> Vec<String> {
    let optional = |value: Option<f32>| value.map_or_else(|| "-".to_owned(), share);
    // The shares of both documents, in the order of their ids.
    let both = |values: Option<[f32; 2]>| values.map_or_else(|| "-".to_owned(), |values| values.map(share).join(" / "));
    let (doubt, cells) = match row {
        ListedRow::Removal(row) => {
            let mut cells =
                vec![row.reason.to_owned(), optional(row.similarity), optional(row.contained), optional(row.numbers)];
            if worst_first {
                let notes = [(row.other_title, "other title"), (row.others_as_near, "others as near")];
                let notes: Vec<&str> =
                    notes.into_iter().filter(|(is, _)| *is == Some(true)).map(|(_, note)| note).collect();
                cells.push(if notes.is_empty() { "-".to_owned() } else { notes.join(", ") });
            }
            cells.extend([typed(&row.id), typed(&row.kept_id)]);
            (row.doubt.unwrap_or_default(), cells)
        }
        ListedRow::Pair(row) => {
            let ids = row.ids.each_ref().map(|id| typed(id));
            let mut cells = vec![share(row.similarity), both(row.contained), both(row.numbers), row.why.to_owned()];
            cells.extend(ids);
            (row.doubt, cells)
        }
        ListedRow::Cluster(row) => {
            let least = match row.unlinked {
                0 => optional(row.least_similar),
                unlinked => format!("{} ({} unlinked)", optional(row.least_similar), thousands(unlinked)),
            };
            (row.doubt, vec![thousands(row.size), thousands(row.removed), least, typed(&row.cluster_id)])
        }
    };
    if worst_first { [vec![share(doubt)], cells].concat() } else { cells }
}

/// Returns an id as it is typed in a shell. Control characters are written so that bash and zsh read them.
fn typed(id: &str) -> String {
    if !id.chars().any(char::is_control) {
        return quoted(id);
    }
    let escaped = |letter: char| match letter {
        '\n' => "\\n".to_owned(),
        '\'' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => {
            let mut bytes = [0; 4];
            letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\x{byte:02x}")).collect()
        }
        letter => letter.to_string(),
    };
    format!("$'{}'", id.chars().map(escaped).collect::<String>())
}

/// The space between two columns.
const GAP: &str = "  ";

fn rows_of(header: &[&str], rows: &[Vec<String>], width: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let widths: Vec<usize> = (0..header.len())
        .map(|at| rows.iter().map(|row| row[at].width()).chain([header[at].width()]).max().unwrap_or_default())
        .collect();
    let is_table = widths.iter().sum::<usize>() + GAP.len() * (header.len() - 1) <= width;
    if !is_table {
        let longest = header.iter().map(|name| name.width()).max().unwrap_or_default();
        let block = |row: &Vec<String>| {
            let line = |(name, cell): (&&str, &String)| format!("{name:longest$}{GAP}{cell}\n");
            header.iter().zip(row).filter(|(_, cell)| *cell != "-").map(line).collect::<String>() + "\n"
        };
        return rows.iter().map(block).collect();
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).map(|(cell, width)| {
            let spaces = " ".repeat(width.saturating_sub(cell.width()));
            // Numbers are right-aligned.
            match cell.starts_with(|first: char| first.is_ascii_digit()) && !cell.contains(char::is_alphabetic) {
                true => spaces + cell,
                false => cell.to_owned() + &spaces,
            }
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned() + "\n"
    };
    let mut text = line(&mut header.iter().copied());
    rows.iter().for_each(|row| text += &line(&mut row.iter().map(String::as_str)));
    text + "\n"
}

/// Says how many rows there are, and what to type next.
fn footer(listing: &Listing, out: &Path) -> String {
    let (one, many) = match listing.what {
        Listed::Removed => ("removed document", "removed documents"),
        Listed::KeptSimilar => {
            ("pair of similar documents that are both kept", "pairs of similar documents that are both kept")
        }
        Listed::Clusters => ("cluster", "clusters"),
    };
    let (shown, matching) = (listing.rows.len() as u64, listing.matching);
    let of_all = counted_as(listing.total, &format!("{one}|{many}"));
    let mut text = match matching == listing.total {
        true if shown == matching => of_all,
        true => format!("{} of {of_all}", thousands(shown)),
        false if shown == matching => format!("{} match of {of_all}", thousands(matching)),
        false => format!("{} of {} that match, of {of_all}", thousands(shown), thousands(matching)),
    };
    if shown < matching {
        text += "; `limit=N` shows more";
    }
    text.push('\n');
    let out = quoted(&out.display().to_string());
    match listing.rows.first() {
        Some(ListedRow::Removal(row)) => text += &format!("next: dupsift explain {out} {}\n", typed(&row.id)),
        Some(ListedRow::Pair(row)) => {
            let [a, b] = row.ids.each_ref().map(|id| typed(id));
            text += &format!("next: dupsift explain {out} {a} {b}\n");
        }
        _ => {}
    }
    text
}

/// Returns the table of rules.
pub fn rule_table(table: &RuleTable, out: &Path) -> String {
    let rows = table.rules.iter().map(|row| {
        let removed = if row.is_exact() { thousands(row.removed) } else { format!("about {}", thousands(row.removed)) };
        let note = match row.of_the_run {
            true => "this run",
            false if row.is_exact() => "",
            false => "run again",
        };
        [row.rule.clone(), removed, percent(row.removed, table.documents), bytes(row.removed_bytes), note.to_owned()]
    });
    let mut text = table_of_numbers(["remove-if", "removed", "share", "text", ""], rows);
    let any_open = table.rules.iter().any(|row| !row.is_exact());
    text += &match &table.only_own {
        Some(why) => format!("other rules: {why}\n"),
        None => format!(
            "{}next: dupsift apply {} --remove-if RULE --dry-run, or --out DIR to write the corpus\n",
            if any_open {
                "run again: the rule compares documents that this run did not compare; a run\nwith this rule may remove more\n"
            } else {
                ""
            },
            quoted(&out.display().to_string())
        ),
    };
    text
}

/// Returns a sample of removals as CSV with an empty column `label`.
pub fn label_table(sample: &LabelSample) -> String {
    let mut text = String::from("id_a,id_b,label,weight,similarity\n");
    for one in &sample.pairs {
        let similarity = one.similarity.map(share).unwrap_or_default();
        text += &format!("{},{},,{:.3},{similarity}\n", csv_field(&one.id_a), csv_field(&one.id_b), one.weight);
    }
    text
}

/// Returns a field of a CSV file, in quotation marks if necessary.
fn csv_field(text: &str) -> Cow<'_, str> {
    // Spaces at the edges and an empty id are kept by quotation marks.
    let is_plain = !text.is_empty() && text.trim() == text && !text.contains([',', '"', '\n', '\r']);
    if is_plain { text.into() } else { format!("\"{}\"", text.replace('"', "\"\"")).into() }
}

/// Returns what `apply` would do.
pub fn planned(table: &RuleTable, thresholds: &[(String, f64)]) -> String {
    let Some(RuleFigures { rule, removed, removed_bytes, not_compared, .. }) = table.rules.first() else {
        return String::new();
    };
    let mut rule = format!("remove-if={rule}");
    thresholds.iter().for_each(|(label, threshold)| rule += &format!(", {label}={threshold}"));
    let mut text = format!(
        "{rule}: {} of {} would be removed ({}), with {} of text\n",
        thousands(*removed),
        counted(table.documents, "document"),
        percent(*removed, table.documents),
        bytes(*removed_bytes)
    );
    if *not_compared > 0 {
        text += "the rule compares documents that the run did not compare: `apply` may refuse it, and a run with this rule may\nremove more\n";
    }
    text + "nothing was written\n"
}

fn bytes(bytes: u64) -> String {
    ByteSize(bytes).display().si().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_can_be_pasted() {
        assert_eq!(["a:1/b", "a b", "it's", "a\nb'"].map(typed), ["a:1/b", "'a b'", "'it'\\''s'", "$'a\\nb\\''"]);
    }

    #[test]
    fn a_table_that_is_too_wide_becomes_blocks() {
        let rows = [vec!["0.5".to_owned(), "an-id".to_owned()], vec!["-".to_owned(), "b".to_owned()]];
        assert_eq!(rows_of(&["share", "id"], &rows, 80), "share  id\n  0.5  an-id\n-      b\n\n");
        assert_eq!(rows_of(&["share", "id"], &rows, 10), "share  0.5\nid     an-id\n\nid     b\n\n");
    }
}
