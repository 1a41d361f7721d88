//! Converts repeats to the passages that are cut from a text.

use std::ops::Range;

use crate::border::is_border;
use crate::cut::{Cut, CutAt};
use crate::fold::{Folded, chars, is_line_end, white_at, white_before};
use crate::repeat::Repeat;
use crate::unit::{Unit, units};

/// Describes a passage that is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The position of the passage's first character in the text.
    pub start: u32,
    /// The position after the passage's last character.
    pub end: u32,
    /// The position of the passage's first byte in the text.
    pub start_byte: u32,
    /// The position after the passage's last byte.
    pub end_byte: u32,
    /// The number of occurrences of the passage's most frequent unit or run.
    pub copies: u32,
    /// The document with the first copy of the passage's first unit or run.
    pub first_doc: u64,
    /// The position of the first copy in `first_doc`, in characters.
    pub first_start: u32,
}

/// Holds a stretch to cut, before the surrounding white space is added.
struct Found {
    place: Unit,
    /// The units or the characters of the folded text.
    positions: Range<u64>,
    copies: u32,
    first: (u64, u32),
}

/// Returns the passages that are cut from a text, in order. The repeats in the text must also be in order. Calls `first` with every
/// document that contains the first copy of a unit or run that is cut.
pub fn passages(text: &str, cut: Cut, cut_at: CutAt, repeats: &[Repeat], mut first: impl FnMut(u64)) -> Vec<Passage> {
    if repeats.is_empty() {
        return Vec::new();
    }
    let found = match cut {
        Cut::Runs(length) => of_runs(text, length, cut_at, repeats, &mut first),
        _ => of_units(text, cut, repeats, &mut first),
    };
    with_white_space(text, &found)
}

/// Returns the positions that are cut from a text, in order: the numbers of units, or of characters in the folded text. The repeats must be
/// in order. The text matters only for [`Cut::Runs`].
pub fn cut_positions(text: &str, cut: Cut, cut_at: CutAt, repeats: &[Repeat]) -> Vec<Range<u64>> {
    match cut {
        Cut::Runs(length) => {
            of_runs(text, length, cut_at, repeats, &mut |_| ()).into_iter().map(|found| found.positions).collect()
        }
        _ => stretches(repeats, cut.length().into()).into_iter().map(|(range, _)| range).collect(),
    }
}

/// Describes a part of a text that also occurs elsewhere in its entirety.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The byte range of the part in the text.
    pub bytes: Range<usize>,
    /// The number of occurrences of the part.
    pub copies: u32,
    /// The document with the first copy.
    pub first_doc: u64,
}

/// Returns the parts of a text that also occur elsewhere in their entirety. The repeats in the text must be in order. Among overlapping
/// parts, only the parts with the most copies are returned. A cut passage may consist of several parts.
pub fn templates(text: &str, cut: Cut, repeats: &[Repeat]) -> Vec<Template> {
    let length = u64::from(cut.length());
    let overlaps = |one: &Repeat, next: &Repeat| u64::from(next.position) <= covered(one, length).1;
    let is_above = |at: usize| {
        let other = |other: Option<&Repeat>, joins: &dyn Fn(&Repeat) -> bool| {
            other.is_none_or(|other| other.copies <= repeats[at].copies || !joins(other))
        };
        other(at.checked_sub(1).and_then(|at| repeats.get(at)), &|before| overlaps(before, &repeats[at]))
            && other(repeats.get(at + 1), &|next| overlaps(&repeats[at], next))
    };
    let mut all = Vec::new();
    if cut.has_units() {
        units(text, cut, &mut |unit| all.push(unit));
    }
    let folded = if cut.has_units() { Folded::default() } else { Folded::new(text) };
    let mut walk = Walk::new(&folded.text);
    let mut found = Vec::new();
    for at in (0..repeats.len()).filter(|&at| !matches!(cut, Cut::Sentences(_) | Cut::Runs(_)) || is_above(at)) {
        let Repeat { copies, first_doc, .. } = repeats[at];
        let (start, end) = covered(&repeats[at], length);
        let mut push = |bytes: Range<usize>| found.push(Template { bytes, copies, first_doc });
        match cut {
            Cut::Lines | Cut::Paragraphs => {
                let of = |number: u64| all.get(number as usize);
                (start..end).filter_map(of).for_each(|unit: &Unit| push(unit.start..unit.end));
            }
            Cut::Sentences(_) => {
                if let (Some(first), Some(last)) = (all.get(start as usize), all.get(end as usize - 1)) {
                    push(first.start..last.end);
                }
            }
            Cut::Runs(_) => {
                let (start, end) = (walk.byte_of(start), walk.byte_of(end));
                push(folded.original(start)..folded.original(end));
            }
        }
    }
    found
}

/// Converts character positions to byte positions.
struct Walk<'t> {
    text: &'t str,
    character: u64,
    byte: usize,
}

impl<'t> Walk<'t> {
    fn new(text: &'t str) -> Walk<'t> {
        Walk { text, character: 0, byte: 0 }
    }

    /// Returns the first byte of a character. The lookup is fast if the character is near the previously requested character.
    fn byte_of(&mut self, wanted: u64) -> usize {
        let bytes = |chars: &mut dyn Iterator<Item = char>, count: u64| {
            chars.take(count as usize).map(char::len_utf8).sum::<usize>()
        };
        self.byte = match wanted.checked_sub(self.character) {
            Some(ahead) => self.byte + bytes(&mut self.text[self.byte..].chars(), ahead),
            None => self.byte - bytes(&mut self.text[..self.byte].chars().rev(), self.character - wanted),
        };
        self.character = wanted;
        self.byte
    }
}

/// Returns the stretches of positions that are covered by repeats, each with its repeats.
fn stretches(repeats: &[Repeat], length: u64) -> Vec<(Range<u64>, &[Repeat])> {
    let mut stretches: Vec<(Range<u64>, Range<usize>)> = Vec::new();
    for (number, repeat) in repeats.iter().enumerate() {
        let (start, end) = covered(repeat, length);
        match stretches.last_mut().filter(|(range, _)| start <= range.end) {
            Some((range, numbers)) => (range.end, numbers.end) = (range.end.max(end), number + 1),
            None => stretches.push((start..end, number..number + 1)),
        }
    }
    stretches.into_iter().map(|(range, numbers)| (range, &repeats[numbers])).collect()
}

fn covered(repeat: &Repeat, length: u64) -> (u64, u64) {
    let start = u64::from(repeat.position);
    (start, start + u64::from(repeat.count) - 1 + length)
}

fn of_units(text: &str, cut: Cut, repeats: &[Repeat], first: &mut impl FnMut(u64)) -> Vec<Found> {
    let mut all = Vec::new();
    units(text, cut, &mut |unit| all.push(unit));
    let place = |range: Range<u64>| {
        let of = |number: u64| all.get(number as usize).copied();
        Some(Unit { start: of(range.start)?.start, end: of(range.end - 1)?.end })
    };
    let mut found = Vec::new();
    if let Cut::Sentences(count) = cut {
        for (range, repeats) in stretches(repeats, count.into()) {
            let copies = repeats.iter().map(|repeat| repeat.copies).max().unwrap_or(0);
            repeats.iter().for_each(|repeat| first(repeat.first_doc));
            let (Some(place), [begin, ..]) = (place(range.clone()), repeats) else { continue };
            found.push(Found { place, positions: range, copies, first: (begin.first_doc, begin.first_start) });
        }
        return found;
    }
    for repeat in repeats {
        first(repeat.first_doc);
        for further in 0..repeat.count {
            let number = u64::from(repeat.position) + u64::from(further);
            let positions = number..number + 1;
            let Some(place) = place(positions.clone()) else { continue };
            let begin = (repeat.first_doc, repeat.first_start + further);
            found.push(Found { place, positions, copies: repeat.copies, first: begin });
        }
    }
    found
}

fn of_runs(text: &str, length: u32, cut_at: CutAt, repeats: &[Repeat], first: &mut impl FnMut(u64)) -> Vec<Found> {
    let folded = Folded::new(text);
    let sentences = match cut_at {
        CutAt::Word => Vec::new(),
        CutAt::Sentence => {
            let mut all = Vec::new();
            units(text, Cut::Sentences(1), &mut |unit| all.push((folded.folded(unit.start), folded.folded(unit.end))));
            all
        }
    };
    let length = u64::from(length);
    let mut found = Vec::new();
    let mut walk = Walk::new(&folded.text);
    for (range, repeats) in stretches(repeats, length) {
        let bytes = walk.byte_of(range.start)..walk.byte_of(range.end);
        let trimmed = match cut_at {
            CutAt::Word => to_words(&folded.text, bytes.clone()),
            CutAt::Sentence => to_sentences(&sentences, bytes.clone()),
        };
        let Some(trimmed) = trimmed else { continue };
        let start = range.start + chars(&folded.text[bytes.start..trimmed.start]) as u64;
        let end = start + chars(&folded.text[trimmed.clone()]) as u64;
        if end - start < length {
            continue;
        }
        let place = Unit { start: folded.original(trimmed.start), end: ended(&folded, text, trimmed.end) };
        let overlapping =
            || repeats.iter().filter(|repeat| covered(repeat, length).1 > start && u64::from(repeat.position) < end);
        overlapping().for_each(|repeat| first(repeat.first_doc));
        // Returns the offset, within a repeat, of the first run inside the remaining part, or `None` if there is none.
        let inside = |repeat: &Repeat| {
            let begin = u64::from(repeat.position);
            let from = begin.max(start);
            (from <= (begin + u64::from(repeat.count) - 1).min(end - length)).then_some(from - begin)
        };
        let copies = |all: &mut dyn Iterator<Item = &Repeat>| all.map(|repeat| repeat.copies).max().unwrap_or(0);
        let positions = start..end;
        let begin = overlapping().find_map(|repeat| Some((repeat, inside(repeat)?)));
        found.push(match begin {
            Some((repeat, ahead)) => Found {
                place,
                positions,
                copies: copies(&mut overlapping().filter(|repeat| inside(repeat).is_some())),
                first: (repeat.first_doc, repeat.first_start + ahead as u32),
            },
            None => {
                let Some(repeat) = overlapping().next() else { continue };
                // The first run that reaches into the remaining part.
                let ahead = (start + 1).saturating_sub(u64::from(repeat.position) + length);
                let first = (repeat.first_doc, repeat.first_start + ahead as u32);
                Found { place, positions, copies: copies(&mut overlapping()), first }
            }
        });
    }
    found
}

/// Returns the position in the original text at which a stretch of the folded text ends. The stretch must not end in white space.
fn ended(folded: &Folded, text: &str, end: usize) -> usize {
    let last = folded.text[..end].chars().next_back().map_or(0, char::len_utf8);
    let place = folded.original(end - last) + last;
    debug_assert!(text.is_char_boundary(place));
    place
}

/// Moves both ends inward to word borders and past white space. Returns `None` if nothing remains.
fn to_words(text: &str, place: Range<usize>) -> Option<Range<usize>> {
    let begins = |&at: &usize| text.is_char_boundary(at) && !text[at..].starts_with(' ') && is_border(text, at);
    let ends = |&at: &usize| text.is_char_boundary(at) && !text[..at].ends_with(' ') && is_border(text, at);
    let start = (place.start..place.end).find(begins)?;
    let end = (start + 1..=place.end).rev().find(ends)?;
    Some(start..end)
}

/// Moves both ends inward to sentence borders. The sentences must be in order.
fn to_sentences(sentences: &[(usize, usize)], place: Range<usize>) -> Option<Range<usize>> {
    let start = sentences.get(sentences.partition_point(|one| one.0 < place.start))?.0;
    let end = sentences[..sentences.partition_point(|one| one.1 <= place.end)].last()?.1;
    (start < end).then_some(start..end)
}

/// Extends each passage to include the surrounding white space: after the passage up to the next line or word, and before the passage only
/// within the same line. At either end of the text, all white space is included.
fn with_white_space(text: &str, found: &[Found]) -> Vec<Passage> {
    // Returns the position after the last line end in white space.
    let behind_line = |white: Range<usize>| {
        text[white.clone()].rmatch_indices(is_line_end).next().map(|(at, end)| white.start + at + end.len())
    };
    let mut places: Vec<Unit> = Vec::with_capacity(found.len());
    for Found { place, .. } in found {
        let white = place.end + white_at(text, place.end);
        let end = match white == text.len() {
            true => white,
            false => behind_line(place.end..white).unwrap_or(white),
        };
        places.push(Unit { start: place.start, end });
    }
    // Iterates backward from the last passage, and tracks whether everything after the current passage is cut.
    let (mut next, mut at_end) = (text.len(), true);
    for number in (0..places.len()).rev() {
        let before = number.checked_sub(1).map_or(0, |before| places[before].end);
        at_end &= places[number].end >= next;
        let place = &mut places[number];
        let white = white_before(text, place.start);
        let start = match at_end || white == 0 {
            true => white,
            false => behind_line(white..place.start).unwrap_or(white),
        };
        place.start = start.max(before);
        next = place.start;
    }
    let (mut byte, mut character) = (0, 0);
    let mut character_of = |wanted: usize| {
        character += chars(&text[byte..wanted]);
        byte = wanted;
        character as u32
    };
    let passage = |(&Unit { start, end }, found): (&Unit, &Found)| Passage {
        start: character_of(start),
        end: character_of(end),
        start_byte: start as u32,
        end_byte: end as u32,
        copies: found.copies,
        first_doc: found.first.0,
        first_start: found.first.1,
    };
    places.iter().zip(found).map(passage).collect()
}
