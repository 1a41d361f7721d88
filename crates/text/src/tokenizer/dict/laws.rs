//! Checks that the words are the same as those that jieba-rs finds, for dictionary words, synthetic runs and real documents, with and
//! without user dictionaries.

use std::sync::LazyLock;

use arrow::array::AsArray;
use jieba_rs::Jieba;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::*;
use crate::script::is_han;
use crate::tokenizer::{Unspaced, for_each_word};
use crate::{Pipeline, TextOptions, TokenizerKind};
use dupsift_core::hash::sha1;

static TEXT: LazyLock<String> = LazyLock::new(|| unpacked(include_bytes!("data/dict.txt.zst")));
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| Vocabulary::new(&TEXT).words().map(|(word, _)| word).collect());
static PLAIN: LazyLock<(Dict, Jieba)> = LazyLock::new(|| (Dict::new(UserWords::default()), jieba()));

fn unpacked(packed: &[u8]) -> String {
    String::from_utf8(zstd::decode_all(packed).expect("a whole file")).expect("text")
}

/// Returns jieba-rs with the program's dictionary. The SHA-1 test below proves that this dictionary is identical to
/// the jieba-rs dictionary.
fn jieba() -> Jieba {
    Jieba::with_dict(&mut TEXT.as_bytes()).expect("a dictionary")
}

/// Panics if the words of a run differ from the words that jieba-rs finds. The run is split twice: as a run, and as the complete text of a
/// document.
fn compare(dict: &Dict, jieba: &Jieba, run: &str) {
    let mut words = Vec::new();
    dict.cut(run, &mut |word| words.push(&run[word]));
    let expected: Vec<&str> = jieba.cut(run, true).iter().map(|token| token.word).collect();
    assert_eq!(words, expected, "{run}");
    assert_eq!(han_words(dict, run), expected, "{run}");
}

/// Returns the Han words in the text.
fn han_words<'t>(dict: &Dict, text: &'t str) -> Vec<&'t str> {
    let mut words = Vec::new();
    for_each_word(text, dict, &Unspaced::characters(), &mut |word, han| words.extend(han.then_some(&text[word])));
    words
}

/// Compares the digest of the dictionary with the digest of src/data/dict.txt in jieba-rs 0.11.0.
#[test]
fn the_dictionary_is_that_of_jieba() {
    assert_eq!(JIEBA, "0.11.0");
    assert_eq!(format!("{:032x}", sha1(TEXT.as_bytes())), "2c7b138f5ddd24fd9fb6e79e74ff9174");
}

#[test]
fn the_dictionary_is_whole_and_in_order() {
    assert_eq!(WORDS.len(), 349_045);
    assert!(WORDS.is_sorted_by(|one, two| one < two));
    assert_eq!(Vocabulary::new(&TEXT).total(), 60_101_964);
    assert!(Vocabulary::new(&TEXT).words().all(|(_, frequency)| frequency > 0));
}

/// Checks that the program would build the same tables as the build script. All other tests use the tables of the build script.
#[test]
fn tables_are_those_that_the_program_makes() {
    let model = unpacked(include_bytes!("data/hmm.model.zst"));
    let made = Cutter::new(&Vocabulary::new(&TEXT), &model).write(&TEXT);
    assert_eq!(made.len(), TABLES.0.len());
    assert!(made == TABLES.0);
}

/// Checks every word and frequency, and the model, which is stored with the letter numbers of the tables.
#[test]
fn the_tables_list_the_dictionary_that_they_were_made_of() {
    let mut tables = Reader::new(&TABLES.0);
    let built_in = Cutter::read(&mut tables);
    let listed = built_in.dictionary(&tables.list());
    let dictionary = Vocabulary::new(&TEXT);
    assert!(Vocabulary::new(&listed).words().eq(dictionary.words()));
    assert!(built_in.with_words(&dictionary).write(&TEXT) == TABLES.0);
}

#[test]
fn every_word_of_the_dictionary() {
    let (dict, jieba) = &*PLAIN;
    for word in WORDS.iter().filter(|word| word.chars().all(is_han)) {
        compare(dict, jieba, word);
    }
}

#[test]
fn every_run_of_the_samples() {
    let (dict, jieba) = &*PLAIN;
    let mut characters = 0;
    for text in samples("zh") {
        for run in text.split(|c| !is_han(c)) {
            compare(dict, jieba, run);
            characters += run.chars().count();
        }
    }
    assert!(characters > 100_000, "the samples are incomplete: only {characters} characters");
}

/// Returns the text of each document in a sample file.
fn samples(language: &str) -> Vec<String> {
    let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data-samples/docs/{}.parquet"), language);
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).expect("the samples"))
        .and_then(|builder| builder.build())
        .expect("a Parquet file");
    let mut samples = Vec::new();
    for batch in reader {
        let texts = batch.expect("rows").column_by_name("text").expect("a column").clone();
        let texts = arrow::compute::cast(&texts, &arrow::datatypes::DataType::Utf8View).expect("texts");
        samples.extend(texts.as_string_view().iter().flatten().map(str::to_owned));
    }
    samples
}

/// Checks that with `tokenizer=jieba`, Han runs are split into the same words as by the library, and that all other words are the same as
/// with `dict`.
#[test]
fn the_tokenizer_jieba_has_the_words_of_the_library() {
    let pipeline = |tokenizer| Pipeline::new(&TextOptions { tokenizer, ..TextOptions::default() }).expect("options");
    let (dict, by_jieba) = (pipeline(TokenizerKind::Dict), pipeline(TokenizerKind::Jieba));
    let library = &PLAIN.1;
    for language in ["zh", "ru", "en"] {
        let (mut han, mut others) = (0, 0);
        for raw in samples(language) {
            let analysis = by_jieba.analyse(&raw);
            let words = |han: bool| analysis.words().iter().filter(move |word| word.han == han);
            let expected = analysis.text().split(|c| !is_han(c)).flat_map(|run| library.cut(run, true));
            assert!(words(true).map(|word| analysis.word(word)).eq(expected.map(|token| token.word)), "{raw}");
            let by_dict = dict.analyse(&raw);
            assert!(words(false).eq(by_dict.words().iter().filter(|word| !word.han)), "{raw}");
            (han, others) = (han + words(true).count(), others + words(false).count());
        }
        assert!(han > 50_000 || language != "zh", "{language}: {han}");
        assert!(others > 50_000, "{language}: {others}");
    }
}

/// Checks that no text is lost if a run is longer than the limit for jieba-rs, and that the user's words are found.
#[test]
fn the_tokenizer_jieba_cuts_long_runs_and_words_of_the_user() {
    let words = |run: &str, user: Option<&str>| {
        let tokenizer = super::Jieba::new(UserWords::parse(user, Default::default()).expect("a dictionary"));
        let mut words = Vec::new();
        tokenizer.cut(run, &mut |word| words.push(run[word].to_owned()));
        words
    };
    let long = "中华人民共和国".repeat(super::jieba::RUN_LIMIT / 7 + 1);
    assert_eq!(words(&long, None).concat(), long);
    assert_eq!(words("他来到了网易杭研大厦", None), ["他", "来到", "了", "网易", "杭研", "大厦"]);
    assert_eq!(words("他来到了网易杭研大厦", Some("网易杭研")), ["他", "来到", "了", "网易杭研", "大厦"]);
}

/// Generates a run that consists of words, parts of words and single characters. Some of the characters are not in the dictionary, some are
/// not in the model of unknown words either, and some never join other characters.
fn run(longest: usize) -> impl Strategy<Value = String> {
    let word = || any::<prop::sample::Index>().prop_map(|index| WORDS[index.index(WORDS.len())]);
    let han = |word: &str| word.chars().filter(|c| is_han(*c)).collect::<String>();
    let part = (word(), 0..4_usize, 1..4_usize);
    let one = prop_oneof![
        4 => word().prop_map(han),
        4 => part.prop_map(move |(word, from, count)| han(word).chars().skip(from).take(count).collect()),
        2 => prop::sample::select("的一是不了在人有我他这中大来上国个到说们".chars().collect::<Vec<_>>()).prop_map(String::from),
        2 => prop::char::range('\u{4E00}', '\u{9FFF}').prop_map(String::from),
        1 => prop::sample::select("々〇〡㐀㐁𠀀𠀁𪜀𬺰𰀀豈龦".chars().collect::<Vec<_>>()).prop_map(String::from),
    ];
    proptest::collection::vec(one, 0..longest).prop_map(|parts| parts.concat())
}

/// Generates a line of a user dictionary: a real word, a synthetic word, or a word that may also contain Latin letters, digits and symbols.
fn user_word() -> impl Strategy<Value = (String, Option<u64>)> {
    let mixed = "[a-cA]{0,3}[中国人的]{0,3}[+#&._%·0-9]{0,3}[语言㐀〇𠀀]{0,2}[a-c]?";
    let word = prop_oneof![3 => run(5), 1 => mixed, 1 => Just("中国".to_owned())];
    let frequency =
        prop_oneof![2 => Just(None), 1 => (1..100_u64).prop_map(Some), 1 => (1..10_000_000_u64).prop_map(Some)];
    (word, frequency).prop_filter("an empty word", |(word, _)| !word.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_run(run in run(24)) {
        let (dict, jieba) = &*PLAIN;
        compare(dict, jieba, &run);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Checks that runs are split into the same words whether they are processed together or separately.
    #[test]
    fn any_text(runs in proptest::collection::vec((run(8), prop::sample::select(&[" ", ", ", "。", "a", "é"])), 0..200)) {
        let (dict, jieba) = &*PLAIN;
        let text: String = runs.iter().flat_map(|(run, mark)| [run, *mark]).collect();
        let expected: Vec<&str> =
            text.split(|c| !is_han(c)).flat_map(|run| jieba.cut(run, true)).map(|token| token.word).collect();
        prop_assert_eq!(han_words(dict, &text), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_user_dictionary(
        user in proptest::collection::vec(user_word(), 1..40),
        runs in proptest::collection::vec(run(12), 60),
    ) {
        let mut vocabulary = Vocabulary::new(&TEXT);
        let mut jieba = PLAIN.1.clone();
        for (word, frequency) in &user {
            let suggested = jieba.suggest_freq(word) as u64;
            vocabulary.add(word, *frequency);
            let ours = vocabulary.frequency(word).unwrap_or_default();
            // The platform's logarithms may round a frequency to a neighboring integer.
            let differs = frequency.map_or_else(|| ours.abs_diff(suggested).saturating_sub(1), |given| ours.abs_diff(given));
            prop_assert_eq!(differs, 0, "{}: {} and {}", word, ours, suggested);
            jieba.add_word(word, Some(ours as usize), None);
        }
        let lines = user.iter().map(|(word, frequency)| UserWord { word: word.clone(), frequency: *frequency });
        let dict = Dict::new(UserWords(lines.collect()));
        // The runs contain the user's words next to each other and next to other words.
        let own = user.iter().map(|(word, _)| word.chars().filter(|c| is_han(*c)).collect::<String>());
        let own: Vec<String> = own.filter(|word| !word.is_empty()).collect();
        for (at, run) in runs.iter().enumerate() {
            compare(&dict, &jieba, run);
            if let [_, ..] = own[..] {
                let (one, two) = (&own[at % own.len()], &own[(at * 7 + 1) % own.len()]);
                compare(&dict, &jieba, &format!("{one}{two}{run}{one}"));
            }
        }
    }
}
