//! Tests normalization: worked examples, every character, and a comparison of the shortcut with the definition.

use proptest::prelude::*;

use super::super::pieces::plain;
use super::*;

/// The maximum factor by which normalization lengthens a character in bytes (U+FDFA: from 3 bytes to 33).
const EXPANSION: usize = 11;

fn normal(raw: &str) -> String {
    Normal::of(raw, Letters::default()).expect("short").text
}

#[test]
fn spellings_that_mean_the_same_become_the_same() {
    for (raw, expected) in [
        ("Ｆｕｌｌ　Ｗｉｄｔｈ １２３", "full width 123"),
        ("и\u{306}од Йод", "йод йод"),
        ("Ёлка\tи  \u{A0}её", "ёлка и её"),
        ("zero\u{200B}width so\u{AD}ft \u{FEFF}bom", "zerowidth soft bom"),
        ("e\u{200D}\u{301}", "é"),
        ("wa\u{34F}t\u{61C}e\u{180E}r\u{202A}m\u{2066}a\u{FE0F}r\u{3164}k\u{E0041}s\u{E0100}", "watermarks"),
        ("за\u{301}мок О\u{341}сень о\u{302}\u{301} ѐ\u{301}", "замок осень о\u{302} ѐ"),
        ("г\u{301} и\u{300} e\u{301} \u{301}", "ѓ ѝ é \u{301}"),
        ("ｶﾞ", "ガ"),
        ("ΟΔΟΣ οδός Ὀδός ᾳ ΐ", "οδοσ οδοσ οδοσ α ι"),
        ("ﬁn", "fin"),
        ("№5 Word™ 20℃ 𝐀𝚺 ℡", "no5 wordtm 20°c aσ tel"),
        ("हिन्दी عَرَبِيّ", "हिन्दी عربي"),
        ("كتـــاب كِتَابٌ مدرسة مدرسه على علي علی کتاب", "كتاب كتاب مدرسه مدرسه علي علي علي كتاب"),
        ("أ إ آ ؤ ئ \u{64B} ب\u{64B}", "أ إ آ ؤ ئ \u{64B} ب"),
        ("שָׁלוֹם שלום \u{FB2A}", "שלום שלום ש"),
        ("İstanbul istanbul i\u{307} ılık", "istanbul istanbul i ılık"),
        ("٣٤٥ ۳۴۵ ३४५ ৩৪৫ ၃၄၅ ๓๔๕ ３４５ 𝟑𝟒𝟓", "345 345 345 345 345 345 345 345"),
        ("١٬٢٣٤٫٥ ٣²", "1,234.5 3^2"),
        ("м² km³ H₂O x₁₂ ½ кг ①② 5①", "м^2 km^3 h2o x12 1⁄2 кг 1 2 5 1"),
        ("漢字 汉字 戶户", "漢字 汉字 戶户"),
        ("\u{F900}", "\u{8C48}"),
        ("", ""),
        (" \n\t ", ""),
    ] {
        assert_eq!(normal(raw), expected, "{raw:?}");
    }
    for (raw, expected) in [
        ("2⁵ 10⁶ 10⁻⁶ 2ⁿ 10¹⁰⁰", "2^5 10^6 10^−6 2^n 10^100"),
        ("１０⁶ 𝟏𝟎⁶ 10\u{200B}⁶", "10^6 10^6 10^6"),
        ("1½ 11⁄2 11½ 1⅔ 2½½ 3½4", "1 1⁄2 11⁄2 11 1⁄2 1 2⁄3 2 1⁄2 1⁄2 3 1⁄2 4"),
        ("101₂ log₂8 SO₄²⁻", "101_2 log2 8 so4^2−"),
        ("m² ㎡ (a+b)³ m2", "m^2 m^2 (a+b)^3 m2"),
        ("5²; 5,2²", "5^2; 5,2^2"),
        ("3⑤ ⑤3 ㉑㊿ ⓪1 3𝟝", "3 5 5 3 21 50 0 1 35"),
        ("3⒌ ⒌3 \u{1F101}5 3\u{1FBF5}", "3 5. 5. 3 0, 5 35"),
        ("1㋁ ㋁3日 2㍙ ㍙5 1㏠", "1 2月 2月3日 2 1点 1点5 1 1日"),
        ("5㎡ ㎡5 ㎥² ⑴3", "5m^2 m^2 5 m^32 (1)3"),
    ] {
        assert_eq!(normal(raw), expected, "{raw:?}");
        assert_eq!(normal_word(raw, Letters::default()), expected, "{raw:?}");
        assert_eq!(visible_length(raw), expected.replace(' ', "").len(), "{raw:?}");
    }
    let of = |raw: &str| super::super::numbers::numbers(&normal(raw)).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        of("10⁶ and 106, 10⁻⁶, 10¹⁰⁰ and 10100, 1½, ½, 3⑤"),
        ["10^6", "106", "10^−6", "10^100", "10100", "1 1⁄2", "1⁄2", "3", "5"]
    );
    assert_ne!(normal("й"), normal("и"));
    assert_eq!(Normal::of("Ёлка ё", Letters { yo_to_e: true, ..Letters::default() }).expect("short").text, "елка е");
    assert_eq!(normal_word(" Ｔｈｅ\u{200B} ", Letters::default()), "the");
}

#[test]
fn pieces_are_separated_by_one_space_and_none_is_empty() {
    let normal = Normal::of(" А.  \n\n \n\n Б！Ｃ  ", Letters::default()).expect("short");
    assert_eq!(normal.text, "а. б! c");
    let pieces: Vec<&str> = normal.pieces().map(|piece| &normal.text[piece]).collect();
    assert_eq!(pieces, ["а.", "б!", "c"]);
}

/// This test would take hours if the rest of the white space were read again for each character.
#[test]
fn white_space_of_any_length_is_stepped_over_at_once() {
    for white in [" ", "\t", "\u{a0}", " \u{3000}"] {
        for behind in ["", "\u{a0}", "\u{1680}", "“", "\u{2009}"] {
            let raw = format!("a{}{behind}b", white.repeat(4_000_000));
            let expected = if behind == "“" { "a “b" } else { "a b" };
            assert_eq!(normal(&raw), expected);
        }
    }
}

#[test]
fn a_text_above_the_bound_is_refused_and_one_at_the_bound_is_not() {
    assert!(Normal::of(&" ".repeat(MAX_TEXT_BYTES + 1), Letters::default()).is_none());
    assert!(Normal::of(&" ".repeat(MAX_TEXT_BYTES), Letters::default()).is_some());
    assert!(MAX_TEXT_BYTES * EXPANSION * 2 <= u32::MAX as usize);
}

/// Checks each character individually: its normalized length does not exceed the limit, no invisible character or unusual white space
/// remains, and the table agrees with the libraries.
#[test]
fn every_character() {
    let mut longest = 0;
    for c in '\0'..=char::MAX {
        let raw = c.to_string();
        let any = long_way(&NFC.normalize(&raw));
        longest = longest.max(any.len().div_ceil(raw.len()));
        assert!(!any.contains(is_invisible) || is_invisible(c), "{c:?}");
        assert!(!any.contains(|d: char| d.is_whitespace() && d != ' '), "{c:?}");
        if !is_invisible(c) {
            assert_eq!(long_way(&any), any, "{c:?} is another one the second time");
        }
        if plain(c).is_some() {
            assert!(is_surely_composed(c), "{c:?} would not reach the table");
            // The character is placed between two letters, because white space is dropped at both ends of the text, and
            // some letters have a final form.
            let framed = format!("я{c}b");
            let normal = Normal::of(&framed, Letters::default()).expect("short");
            assert_eq!(normal.text, by_definition(&framed), "{c:?}");
        }
        // The character is also checked after a letter that combines with many marks.
        if is_surely_composed(c) {
            assert!(NFC.is_normalized(&format!("e{c}")) && !is_invisible(c), "{c:?}");
        }
    }
    assert_eq!(longest, EXPANSION);
}

fn long_way(piece: &str) -> String {
    let mut out = Vec::new();
    push_any(piece, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

/// Normalizes every piece with the libraries.
fn by_definition(raw: &str) -> String {
    let text = composed(raw);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = sentence::piece_end(&text, start);
        let piece = long_way(&text[start..end]);
        pieces.extend(Some(piece.trim_end_matches(' ').to_owned()).filter(|piece| !piece.is_empty()));
        start = end;
    }
    pieces.join(" ")
}

/// Checks that the kernels of each level return the same text as the definition, that no piece is empty, and that the pieces are
/// consecutive.
fn agrees(text: &str, yo: bool) -> Result<(), TestCaseError> {
    let mut expected = by_definition(text);
    if yo {
        expected = expected.replace('ё', "е");
    }
    let letters = Letters { yo_to_e: yo, ..Letters::default() };
    let ends = |normal: &Normal| normal.ends.clone();
    let plain = Normal::of_by(Level::Plain, text, letters).expect("short");
    for level in Level::all() {
        let normal = Normal::of_by(level, text, letters).expect("short");
        prop_assert_eq!(&normal.text, &expected, "{:?}", level);
        prop_assert_eq!(ends(&normal), ends(&plain), "{:?}", level);
    }
    let mut next = 0;
    for piece in plain.pieces() {
        prop_assert!(piece.start == next && !piece.is_empty());
        next = piece.end + 1;
    }
    prop_assert!(next == plain.text.len() + usize::from(next > 0));
    Ok(())
}

const PARTS: &[&str] = &[
    "a",
    "Word",
    "КОТ",
    "ё",
    "7",
    "中文",
    "，",
    "。",
    "！",
    "？",
    "、",
    "：",
    "（",
    "Ａ",
    "ｚ",
    "～",
    "｡",
    "《",
    "々",
    " ",
    "  ",
    "    ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "\x0B",
    "\x0C",
    "\0",
    "\x1F",
    ".",
    "!",
    "?",
    "...",
    ". ",
    ".\n",
    ".\n\n",
    "! ",
    ")",
    "]",
    "\"",
    "'",
    "-",
    "_",
    "«",
    "»",
    "“",
    "”",
    "’",
    "–",
    "—",
    "…",
    "•",
    "\u{85}",
    "\u{a0}",
    "\u{2009}",
    "\u{2028}",
    "\u{2029}",
    "\u{3000}",
    "\u{1680}",
    "é",
    "e\u{301}",
    "\u{ad}",
    "ﬁ",
    "Σ",
    "😀",
    "Ѡ",
    "䷀",
    "㐀",
    "𠀀",
    "                                                                  ",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn the_short_way_is_the_long_way(
        text in "[ -~\t\nА-яЁёѐѓЋѠ\u{a0}\u{3000}\u{2029}，。！Ａ-ｚ一-龥«»“”—…é\u{301}\u{ad}]{0,120}|[а-яА-ЯЁё ]{50,90}|\\PC{0,60}",
        yo in any::<bool>()
    ) {
        agrees(&text, yo)?;
    }

    /// Tests random sequences of parts that begin at any offset within a 64-byte block, the unit of processing.
    #[test]
    fn parts_in_any_order(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..60), before in 0..64_usize
    ) {
        agrees(&("x".repeat(before) + &parts.concat()), false)?;
    }

    #[test]
    fn composed_and_decomposed_agree(text in "\\PC{0,30}") {
        let decomposed = icu_normalizer::DecomposingNormalizer::new_nfd().normalize(&text).into_owned();
        prop_assert_eq!(normal(&decomposed), normal(&text));
    }
}
