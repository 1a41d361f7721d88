//! `sentence_marks`: compares three parts of the text next to punctuation marks, and the title.
//!
//! Source: the sentence-based method in a Chinese survey of page deduplication. At every comma, full stop, exclamation mark and question
//! mark, the two units before the mark and the two units after it form a group. A unit is a Chinese character, or a word in any other
//! script; units never extend past the next mark. The sequence of groups is split into three parts. Each part that is equal in both
//! documents scores 1, and an equal title scores 1.5. Documents with a total of at least 3 are duplicates: three parts must agree, or two
//! parts and the title. Cost: O(text), three rows per document, or one row if the document has no title.
//!
//! ```text
//! 今天天气很好，我们去公园玩。大家都很高兴！你觉得怎么样？明天见。
//! 很好 我们 | 园玩 大家 | 高兴 你觉 | 么样 明天 | 天见      groups 1 2, groups 3 4, group 5
//! ```
//!
//! The sources do not define units in other scripts, how the string is split, or how numbers are treated. In dupsift, a dot or comma
//! between two digits is not a mark. Two documents share a key for every two parts that agree, so all pairs are found. Limitations: an
//! additional sentence near the start shifts the boundaries of all parts; in lists, most marks are commas.

mod marks;

use crate::algorithm::contract::{Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer};
use crate::algorithm::kit::passages::beginning;
use crate::algorithm::kit::title::longest;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{combine, hash64};
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::{Analysis, Field};
use marks::Marks;

/// Implements the `sentence_marks` algorithm.
pub(crate) struct SentenceMarks;

const FACTS: Facts = Facts {
    name: "sentence_marks",
    aliases: &[],
    source: "survey of ten methods for deduplicating pages, sentence-based method (characters next to punctuation, and the title)",
    summary: "Two documents are duplicates if the words next to punctuation marks match in all three parts of the text, or in two parts if the titles match.",
    when_not_to_use: "on documents with long lists or few punctuation marks; if copies have an extra sentence near the start",
    inputs: "text, title",
    params: &[
        ParamSpec {
            name: "title_weight",
            kind: Kind::Real(0.0, 10.0),
            default: "1.5",
            help: "points for matching titles; each matching part is worth 1 point",
        },
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.1, 13.0),
            default: "3",
            help: "minimum number of points for a pair; the similarity is the number of points divided by the maximum: 3, or 4.5 if both documents have a title",
        },
        ParamSpec {
            name: "letters",
            kind: Kind::Flag,
            default: "false",
            help: "next to a mark in non-Chinese text, use two letters instead of two words",
        },
        ParamSpec {
            name: "any_order",
            kind: Kind::Flag,
            default: "false",
            help: "true: compare each part with all parts of the other text; false: compare the first part only with the first, the second only with the second, and so on",
        },
        ParamSpec {
            name: "cut",
            kind: Kind::Choice(&["groups", "chars"]),
            default: "groups",
            help: "groups: parts with the same number of marks; chars: parts with the same number of characters",
        },
        ParamSpec {
            name: "more_marks",
            kind: Kind::Flag,
            default: "false",
            help: "also treat the enumeration comma and the full-width semicolon as marks",
        },
        ParamSpec {
            name: "strip_suffix",
            kind: Kind::Flag,
            default: "false",
            help: "compare only the longest part of each title",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for SentenceMarks {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs { fields: &[Field::Title], ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let (title_weight, threshold) = (params.real("title_weight"), params.real("threshold"));
        if threshold > 3.0 + title_weight {
            return Err(Error::usage(format!(
                "sentence_marks: no pair can reach threshold={threshold}; three parts and a title with title_weight={title_weight} are worth {} points",
                3.0 + title_weight
            )));
        }
        // The result is 4 if three parts are not enough.
        let parts = |title: f64| (0..4u8).find(|&parts| f64::from(parts) + title >= threshold).unwrap_or(4).into();
        Ok(Box::new(MarksSigner {
            title_weight,
            parts: parts(0.0),
            parts_with_title: parts(title_weight),
            marks: Marks {
                letters: params.flag("letters"),
                more: params.flag("more_marks"),
                by_chars: params.word("cut") == "chars",
            },
            any_order: params.flag("any_order"),
            strip_suffix: params.flag("strip_suffix"),
        }))
    }
}

struct MarksSigner {
    title_weight: f64,
    /// The minimum number of equal parts if the titles differ. A value above 3 means that no number of equal parts is enough.
    parts: usize,
    /// The minimum number of equal parts if the titles are equal.
    parts_with_title: usize,
    marks: Marks,
    any_order: bool,
    strip_suffix: bool,
}

/// The position of the title's key. The position of any other key is the set of its parts, as bits.
const TITLE: u32 = 0;
/// The number of bytes in the sketch: half of the hash of each part and of the title (0 if there is no title).
const SKETCH: usize = 16;

impl MarksSigner {
    /// Returns the title with its hash, or `None` if it has no letter or digit.
    fn title<'t>(&self, document: &'t Analysis<'_>) -> Option<(&'t str, u64)> {
        let title = document.field(Field::Title)?.text();
        let title = if self.strip_suffix { &title[longest(title)] } else { title };
        title.contains(char::is_alphanumeric).then(|| (title, hash64(title.as_bytes())))
    }

    /// Passes the position, the key and the set of parts of each row to `each`. The set has one bit per part and is 0 for the title.
    fn keys(&self, parts: &[u64; 3], title: Option<u64>, mut each: impl FnMut(u32, u64, u32)) {
        // At least this many parts must agree, whether or not the titles are equal.
        let mut size = self.parts_with_title;
        if size == 0 {
            if let Some(title) = title {
                each(TITLE, title, 0);
            }
            size = self.parts;
        }
        let mut keys = [0; 3];
        let mut count = 0;
        for set in 1..8u32 {
            if set.count_ones() as usize != size {
                continue;
            }
            let chosen = parts.iter().enumerate().filter(|(part, _)| set >> part & 1 == 1);
            let key = chosen.fold(0, |key, (_, &part)| combine(key, part));
            let position = if self.any_order { 1 } else { set };
            // Equal parts produce equal keys.
            if self.any_order && keys[..count].contains(&key) {
                continue;
            }
            keys[count] = key;
            count += 1;
            each(position, key, set);
            // Without a title, all three parts must agree, so the key of any two parts is enough to find all pairs that include the
            // document.
            if title.is_none() && self.parts == 3 {
                break;
            }
        }
    }

    fn judge_rows(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Pair> {
        let (a_words, b_words) = (a.sketch.as_chunks::<4>().0, b.sketch.as_chunks::<4>().0);
        let ([a_parts @ .., a_title], [b_parts @ .., b_title]) = (a_words, b_words) else { return None };
        let equal = if self.any_order {
            // Each part of one document matches at most one equal part of the other document.
            let mut left: Vec<_> = b_parts.iter().collect();
            let mut take = |part| left.iter().position(|other| *other == part).map(|at| left.swap_remove(at));
            a_parts.iter().filter(|&part| take(part).is_some()).count()
        } else {
            a_parts.iter().zip(b_parts).filter(|(x, y)| x == y).count()
        };
        let titled = *a_title != [0; 4] && *b_title != [0; 4];
        let same_title = titled && a_title == b_title;
        let weight = |yes: bool| if yes { self.title_weight } else { 0.0 };
        let score = equal as f64 + weight(same_title);
        if equal < if same_title { self.parts_with_title } else { self.parts } {
            return None;
        }
        let similarity = (score / (3.0 + weight(titled))) as f32;
        let matched = u16::from(equal >= self.parts) | u16::from(same_title) << 1;
        Some(Pair::new(a.doc, b.doc, Score { similarity, distance: None }, matched))
    }
}

impl Signer for MarksSigner {
    fn scheme(&self) -> SignatureScheme {
        let shape = RowShape { positions: 8, key_bits: 64, ordered: false, sketch: SKETCH };
        SignatureScheme { rules: &["parts", "title_and_parts"], ..SignatureScheme::new(shape) }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let Some(parts) = self.marks.parts(document) else { return out.none("fewer than three punctuation marks") };
        let mut parts = parts.hashes();
        let title = self.title(document).map(|(_, hash)| hash);
        if title.is_none() {
            if self.parts > 3 {
                let there = document.has_column(Field::Title);
                return out.none(if there { "no title" } else { "no column" });
            }
            out.flag("no title; only the parts are compared");
        }
        if self.any_order {
            parts.sort_unstable();
        }
        let half = |hash: u64| (hash >> 32) as u32;
        let halves = [half(parts[0]), half(parts[1]), half(parts[2]), title.map_or(0, |title| half(title).max(1))];
        let sketch: [u8; SKETCH] = bytemuck::cast(halves.map(u32::to_be_bytes));
        self.keys(&parts, title, |position, key, _| out.push(position, key.into(), 0, &sketch));
    }

    /// Returns the title, or the parts that make up the key, with ` | ` between groups and ` / ` between parts.
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let Some(found) = self.marks.parts(document) else { return vec![None; keys.len()] };
        let (hashes, texts) = (found.hashes(), found.texts());
        let mut parts = [0, 1, 2].map(|part| (hashes[part], texts[part]));
        if self.any_order {
            parts.sort_unstable();
        }
        let title = self.title(document);
        let mut sets = Vec::with_capacity(4);
        let hashes = parts.map(|(hash, _)| hash);
        self.keys(&hashes, title.map(|(_, hash)| hash), |_, key, set| sets.push((u128::from(key), set)));
        let words = |key: &u128| {
            let (_, set) = sets.iter().find(|(known, _)| known == key)?;
            if *set == 0 {
                return title.map(|(title, _)| title.to_owned());
            }
            let chosen = parts.iter().enumerate().filter(|(part, _)| set >> part & 1 == 1);
            let shown: Vec<String> =
                chosen.map(|(_, (_, text))| beginning(&text.trim_end().replace(" \n", " | "))).collect();
            Some(shown.join(" / "))
        };
        keys.iter().map(words).collect()
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        self.judge_rows(a, b).map(|pair| pair.score)
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| self.judge_rows(a, b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::CorpusStats;
    use crate::testing::examples::{params, sign, words_of_rows};
    use crate::testing::in_memory::{all_pairs, run_beside};
    use dupsift_core::hash::splitmix64;
    use dupsift_text::FieldValue;
    use dupsift_text::FieldValue::{NoColumn, Null, Text};
    use dupsift_text::{Pipeline, TextOptions};

    const EXAMPLE: &str = "今天天气很好，我们去公园玩。大家都很高兴！你觉得怎么样？明天见。";

    #[test]
    fn reasons_and_contradictions() {
        assert_eq!(sign(&SentenceMarks, "", "one. two."), Err("fewer than three punctuation marks"));
        let stats = CorpusStats::none();
        let unreachable = SentenceMarks.signer(&params(&SentenceMarks, "threshold=4.6"), &Corpus::new(9, &stats));
        assert!(unreachable.err().unwrap().to_string().contains("are worth 4.5 points"));
    }

    #[test]
    fn each_key_has_the_title_or_its_parts() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let stats = CorpusStats::none();
        let words = |typed: &str, title| {
            let signer = SentenceMarks.signer(&params(&SentenceMarks, typed), &Corpus::new(9, &stats)).unwrap();
            words_of_rows(&*signer, &pipeline.analyse(EXAMPLE).with_fields([title, NoColumn, NoColumn]))
        };
        let title = Text("Погода - Сайт");
        let parts = ["很 好 我 们 | 园 玩 大 家", "高 兴 你 觉 | 么 样 明 天", "天 见"];
        let of = |parts: &[&str]| parts.join(" / ");
        let two = [of(&parts[..2]), of(&[parts[0], parts[2]]), of(&parts[1..])];
        assert_eq!(words("", title), two);
        assert_eq!(words("", Null), two[..1]);
        let mut any_order = words("any_order=true,threshold=1,title_weight=0.5", title);
        any_order.sort();
        assert_eq!(any_order, {
            let mut parts = parts;
            parts.sort();
            parts
        });
        assert_eq!(words("threshold=1.5", title)[0], "погода - сайт");
        assert_eq!(words("threshold=1.5,strip_suffix=true", title)[0], "погода");
        assert_eq!(
            words("cut=chars,threshold=1,title_weight=0", Null),
            ["很好我们园玩", "大家高兴你觉", "么样明天天见"]
        );
        let signer = SentenceMarks.signer(&params(&SentenceMarks, ""), &Corpus::new(9, &stats)).unwrap();
        assert_eq!(signer.words_of_keys(&pipeline.analyse("one. two."), &[0]), [None]);
    }

    /// Checks which documents form pairs in the example if parts and titles are modified.
    #[test]
    fn worked_scores() {
        let changed = |part: &str, by: &str| EXAMPLE.replace(part, by);
        let texts = [
            EXAMPLE.to_string(),
            EXAMPLE.to_string() + " ",
            changed("明天见", "后天走"),
            changed("明天见", "后天走").replace("很好", "不错"),
            changed("大家", "我们"),
        ];
        let title = |text: &'static str| [Text(text), NoColumn, NoColumn];
        let find = |typed: &str, titles: [FieldValue<'static>; 5]| -> Vec<(usize, usize, f32, u16)> {
            let fields = titles.map(|title| [title, NoColumn, NoColumn]);
            let found = run_beside(&SentenceMarks, typed, &texts, &fields);
            found.pairs.iter().map(|((a, b), pair)| (*a, *b, pair.score.similarity, pair.matched)).collect()
        };
        let same = title("Погода - Сайт")[0];
        let near = |a, b| (a, b, 3.5 / 4.5, 2);
        // The third text differs in parts 2 and 3, because its new words are on both sides of a mark. The fourth text differs from the
        // first in all parts, but from the third only in part 1. The fifth text differs in part 1.
        assert_eq!(find("", [Null; 5]), [(0, 1, 1.0, 1)]);
        assert_eq!(find("", [same; 5]), [(0, 1, 1.0, 3), near(0, 4), near(1, 4), near(2, 3)]);
        let other = title("погода | другой")[0];
        assert_eq!(find("", [same, other, same, same, same]), [(0, 1, 3.0 / 4.5, 1), near(0, 4), near(2, 3)]);
        assert_eq!(find("strip_suffix=true", [same, other, Null, Null, Null]), [(0, 1, 1.0, 3)]);
        // An empty title matches nothing.
        assert_eq!(find("", [Text(" — "); 5]), [(0, 1, 1.0, 1)]);
        assert_eq!(find("threshold=3.5", [Null; 5]), []);
        assert_eq!(find("threshold=1,title_weight=1", [same; 5]).len(), 10);
        let reason = |title| run_beside(&SentenceMarks, "threshold=3.5", &texts[..1], &[[title, NoColumn, NoColumn]]);
        assert_eq!(reason(Null).unsigned[&0], "no title");
        assert_eq!(reason(NoColumn).unsigned[&0], "no column");
    }

    /// Returns texts with three or more sentences, each like the previous one except for some words, and titles from a
    /// small set.
    fn made(count: usize) -> (Vec<Vec<Vec<String>>>, Vec<usize>) {
        let mut at = 0;
        let mut random = |below: u64| {
            at += 1;
            splitmix64(11, at) % below
        };
        let mut all: Vec<Vec<Vec<String>>> = Vec::new();
        for _ in 0..count {
            let mut text = match all.last() {
                Some(last) if random(5) > 0 => last.clone(),
                _ => (0..3 + random(4))
                    .map(|_| (0..1 + random(4)).map(|_| format!("w{}", random(30))).collect())
                    .collect(),
            };
            match random(4) {
                0 => text[0][0] = format!("w{}", random(3)),
                1 => text.last_mut().unwrap()[0] = format!("w{}", random(3)),
                2 => text.rotate_left(3),
                _ => {}
            }
            all.push(text);
        }
        let titles = (0..count).map(|_| random(4) as usize).collect();
        (all, titles)
    }

    #[test]
    fn equals_comparing_all_with_all() {
        let (made, titles) = made(150);
        let texts: Vec<String> =
            made.iter().map(|text| text.iter().map(|sentence| sentence.join(" ") + ". ").collect()).collect();
        let values = [Null, Text("одно"), Text("другое"), Text("одно")];
        let fields: Vec<_> = titles.iter().map(|&title| [values[title], NoColumn, NoColumn]).collect();
        let parts: Vec<Vec<String>> = made
            .iter()
            .map(|text| {
                let groups: Vec<String> = (0..text.len())
                    .map(|at| {
                        let left = text[at].iter().rev().take(2).rev();
                        let right = text.get(at + 1).into_iter().flatten().take(2);
                        left.chain(right).cloned().collect::<Vec<_>>().join(" ")
                    })
                    .collect();
                let (one, more) = (groups.len() / 3, groups.len() % 3);
                let (first, second) = (one + usize::from(more > 0), one + usize::from(more > 1));
                let (head, tail) = groups.split_at(first);
                let (middle, tail) = tail.split_at(second);
                [head, middle, tail].map(|part| part.join("|")).to_vec()
            })
            .collect();
        for any_order in [false, true] {
            for (threshold, title_weight) in [(3.0, 1.5), (2.0, 1.5), (1.0, 1.0), (3.5, 1.5), (3.0, 0.0), (0.5, 2.0)] {
                let score = |a: usize, b: usize| {
                    let equal = match any_order {
                        false => parts[a].iter().zip(&parts[b]).filter(|(x, y)| x == y).count(),
                        true => {
                            let mut left = parts[b].clone();
                            let mut take = |x: &String| left.iter().position(|y| x == y).map(|at| left.remove(at));
                            parts[a].iter().filter(|x| take(x).is_some()).count()
                        }
                    };
                    let same = titles[a] > 0 && values[titles[a]] == values[titles[b]];
                    equal as f64 + if same { title_weight } else { 0.0 }
                };
                let typed = format!("threshold={threshold},title_weight={title_weight},any_order={any_order}");
                let expected = all_pairs(texts.len(), |a, b| score(a, b) >= threshold);
                assert_eq!(run_beside(&SentenceMarks, &typed, &texts, &fields).numbers(), expected, "{typed}");
                assert!(expected.len() > 20, "{typed}: {}", expected.len());
            }
        }
    }
}
