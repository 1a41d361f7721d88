//! Tests complete analyses on worked examples.

use super::analysis::Analysis;
use super::choices::{TextOptions, TokenizerKind};
use super::pipeline::Pipeline;
use dupsift_core::hash::{crc32, hash64};

const D1: &str = "Кот спит на окне. Кот видит птицу за окном. Птица улетела.";
const D2: &str = "Кот видит птицу за окном. Кот спит на окне! Птица улетела";
const D3: &str = "Собака спит на крыльце. Кот видит рыбу.";

fn pipeline(change: impl FnOnce(&mut TextOptions)) -> Pipeline {
    let mut options = TextOptions::default();
    change(&mut options);
    Pipeline::new(&options).expect("good options")
}

fn with(tokenizer: TokenizerKind) -> Pipeline {
    pipeline(|options| options.tokenizer = tokenizer)
}

fn sentences(analysis: &Analysis<'_>) -> Vec<String> {
    let written = |sentence| {
        let mut out = String::new();
        analysis.write_sentence(sentence, &mut out);
        out
    };
    analysis.sentences().iter().map(written).collect()
}

#[test]
fn three_small_documents() {
    let pipeline = pipeline(|_| {});
    let [d1, d2, d3] = [D1, D2, D3].map(|raw| pipeline.analyse(raw));
    assert_eq!(sentences(&d1), ["кот спит на окне", "кот видит птицу за окном", "птица улетела"]);
    assert_eq!(sentences(&d2), ["кот видит птицу за окном", "кот спит на окне", "птица улетела"]);
    assert_eq!(sentences(&d3), ["собака спит на крыльце", "кот видит рыбу"]);
    assert_eq!(d1.text(), "кот спит на окне. кот видит птицу за окном. птица улетела.");
    assert_eq!(d1.canonical(), "кот спит на окне кот видит птицу за окном птица улетела");
    assert_eq!(d1.sentences(), [0..4, 4..9, 9..11]);
    assert_eq!(d1.characters(), 58);
    assert_eq!(d1.raw(), D1);
    assert_eq!(crc32(sentences(&d1)[1].as_bytes()), 0x2FCC_3B1B);
    assert_eq!(d1.words()[0].hash, hash64("кот".as_bytes()));
    assert_eq!(d1.words()[0].hash, d1.words()[4].hash);
    assert_eq!(d1.tokens().len(), 11);
}

#[test]
fn canonical_forms() {
    let pipeline = pipeline(|_| {});
    for (raw, expected) in [
        ("I can't say 3.14 isn't π!", "i can't say 3.14 isn't π"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ：１２", "full width 12"),
        ("и\u{306}од", "йод"),
        ("йод и иод", "йод и иод"),
        ("Ещё ёлка", "ещё ёлка"),
        ("今天天气很好，我们去公园玩。大家都很高兴！", "今天天气 很 好 我们 去 公园 玩 大家 都 很 高兴"),
        ("我用Python3.12写代码", "我用 python3.12 写 代码"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("العَرَبِيَّة", "العربيه"),
        ("안녕 세계", "안녕 세계"),
        ("👩\u{200D}👩 ok 😀", "ok"),
        ("bad\u{FFFD}byte", "bad byte"),
        ("caf\u{65}\u{301} naïve", "café naïve"),
        ("", ""),
        ("... — !", ""),
        ("я", "я"),
        ("中", "中"),
    ] {
        assert_eq!(pipeline.analyse(raw).canonical(), expected, "{raw:?}");
    }
}

#[test]
fn nothing_but_punctuation_is_no_sentence_but_is_text() {
    let pipeline = pipeline(|_| {});
    let analysis = pipeline.analyse("Да. *** ! \n\n Нет");
    assert_eq!(sentences(&analysis), ["да", "нет"]);
    assert_eq!(analysis.text(), "да. *** ! нет");
    let empty = pipeline.analyse("?! 。");
    assert!(empty.words().is_empty() && empty.sentences().is_empty() && empty.tokens().is_empty());
}

#[test]
fn tokenizers_differ_for_scripts_without_spaces_alone() {
    let raw = "中文分词 и ภาษาไทย in かな。";
    for (kind, expected) in [
        (TokenizerKind::Dict, "中文 分词 и ภาษา ไทย in かな"),
        (TokenizerKind::Jieba, "中文 分词 и ภาษา ไทย in かな"),
        (TokenizerKind::Bigram, "中文 文分 分词 и ภ า ษ า ไ ท ย in か な"),
        (TokenizerKind::Char, "中 文 分 词 и ภ า ษ า ไ ท ย in か な"),
    ] {
        assert_eq!(with(kind.clone()).analyse(raw).canonical(), expected, "{kind:?}");
    }
}

#[test]
fn tokens_are_words_and_han_characters_whatever_the_tokenizer() {
    let expected: Vec<u64> =
        ["我", "用", "python3.12", "写", "代", "码", "и"].map(|token| hash64(token.as_bytes())).to_vec();
    for kind in [TokenizerKind::Dict, TokenizerKind::Jieba, TokenizerKind::Bigram, TokenizerKind::Char] {
        let pipeline = with(kind);
        let analysis = pipeline.analyse("我用Python3.12，写代码。И");
        let hashes: Vec<u64> = analysis.tokens().iter().map(|token| token.hash).collect();
        assert_eq!(hashes, expected);
        assert_eq!(analysis.tokens().iter().filter(|token| token.han).count(), 5);
    }
}

#[test]
fn stop_words_are_marked_and_stay() {
    let pipeline = pipeline(|options| {
        options.stop_words = ["Ｔｈｅ", "НА", "的", "etc.", ""].map(str::to_owned).to_vec();
        options.stem = true;
    });
    let analysis = pipeline.analyse("The кот НА мои окна: 我 的 (etc.) cats");
    let marked: Vec<&str> = analysis.words().iter().filter(|word| word.stop).map(|word| analysis.word(word)).collect();
    assert_eq!(marked, ["the", "на", "的", "etc"]);
    assert_eq!(analysis.canonical(), "the кот на мо окн 我 的 etc cat");
    let cats = analysis.words().last().expect("nine words");
    assert_eq!(cats.hash, hash64(b"cat"));
    assert_eq!(analysis.tokens().last().map(|token| token.hash), Some(cats.hash));
    assert_eq!(analysis.text(), "the кот на мои окна: 我 的 (etc.) cats");
}

#[test]
fn yo_becomes_e_only_when_asked() {
    let plain = pipeline(|_| {});
    let folded = pipeline(|options| {
        options.yo_to_e = true;
        options.stop_words = vec!["ещё".to_owned()];
    });
    let raw = "Ещё и\u{306} е\u{308}лка";
    assert_eq!(plain.analyse(raw).canonical(), "ещё й ёлка");
    let analysis = folded.analyse(raw);
    assert_eq!(analysis.canonical(), "еще й елка");
    assert!(analysis.words()[0].stop);
}

#[test]
fn traditional_characters_are_simplified_ones_only_when_asked() {
    let plain = pipeline(|_| {});
    let read = pipeline(|options| {
        options.traditional = true;
        options.dictionary = Some("電腦學習".to_owned());
    });
    let (traditional, simplified) = ("我們學習電腦。\n\n後來寫書", "我们学习电脑。\n\n后来写书");
    assert_eq!(plain.analyse(traditional).text(), "我們學習電腦。 後來寫書");
    assert_eq!(read.analyse(traditional).text(), "我们学习电脑。 后来写书");
    assert_eq!(read.analyse(traditional).canonical(), read.analyse(simplified).canonical());
    assert_eq!(read.analyse(traditional).sentences().len(), 2);
}

#[test]
fn a_text_above_the_bound_has_no_words() {
    let pipeline = pipeline(|_| {});
    let raw = "a ".repeat(super::MAX_TEXT_BYTES / 2 + 1);
    let analysis = pipeline.analyse(&raw);
    assert!(analysis.text().is_empty() && analysis.words().is_empty());
}

#[test]
fn a_pipeline_is_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    fn moved<T: Send>() {}
    shared::<Pipeline>();
    moved::<Analysis<'_>>();
}
