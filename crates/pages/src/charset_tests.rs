//! Tests how charsets are determined: by byte order marks, by declarations, and by the bytes of the page.

use super::*;
use encoding_rs::{BIG5, EUC_JP, GB18030, GBK, KOI8_R, KOI8_U, SHIFT_JIS, WINDOWS_1251};
use proptest::prelude::*;

const CHINESE: &str =
    "清晨的菜市场已经很热闹。卖豆腐的老人把木桶放在路边，等着邻居们来。今天的青菜比昨天便宜一些，大家都说好。";
const TRADITIONAL: &str =
    "清晨的菜市場已經很熱鬧。賣豆腐的老人把木桶放在路邊，等著鄰居們來。今天的青菜比昨天便宜一些，大家都說好。";
const RUSSIAN: &str =
    "Утром на рынке уже шумно. Старик поставил ведро у дороги и ждёт соседей. Сегодня зелень дешевле, чем вчера.";
const JAPANESE: &str =
    "朝の市場はもう賑やかです。豆腐を売るおじいさんは、道のそばに桶を置いて近所の人たちを待っています。";

fn page(bytes: &[u8]) -> RawPage<'_> {
    RawPage { bytes, ..RawPage::default() }
}

fn read<'a>(raw: &RawPage<'a>) -> (String, &'static Encoding, bool) {
    let decoded = decode(raw, usize::MAX >> 1);
    assert!(!decoded.cut);
    (decoded.text.into_owned(), decoded.encoding, decoded.malformed)
}

/// Returns a page that begins with more ASCII bytes than are passed to the detector, followed by this text.
fn late(text: &str) -> String {
    format!("<html><script>{}</script><p>{text}</p>", "var x = 1; ".repeat(12_000))
}

#[test]
fn what_is_not_declared_is_known_by_its_bytes() {
    for (encoding, found_as, text) in [
        (GBK, GBK, CHINESE),
        (BIG5, BIG5, TRADITIONAL),
        (WINDOWS_1251, WINDOWS_1251, RUSSIAN),
        // The detector does not distinguish these two charsets, which differ only in box-drawing characters.
        (KOI8_R, KOI8_U, RUSSIAN),
        (SHIFT_JIS, SHIFT_JIS, JAPANESE),
        (EUC_JP, EUC_JP, JAPANESE),
        (UTF_8, UTF_8, CHINESE),
    ] {
        for text in [text.to_owned(), late(text)] {
            let (bytes, _, lost) = encoding.encode(&text);
            assert!(!lost);
            assert_eq!(read(&page(&bytes)), (text, found_as, false), "{}", encoding.name());
        }
    }
}

#[test]
fn characters_of_four_bytes_are_read_under_every_chinese_name() {
    let text = format!("{CHINESE}㐀𠀀é");
    let (bytes, _, lost) = GB18030.encode(&text);
    assert!(!lost);
    for label in ["gb18030", "gbk", "GB2312"] {
        let head = format!("<meta charset={label}>");
        let whole = [head.as_bytes(), &bytes].concat();
        let (read, encoding, malformed) = read(&page(&whole));
        assert_eq!((read, malformed), (head + &text, false));
        assert_eq!(encoding, if label == "gb18030" { GB18030 } else { GBK });
    }
    assert_eq!(read(&page(&bytes)), (text, GBK, false));
}

#[test]
fn a_mark_beats_all_and_what_the_server_says_beats_the_page() {
    let meta = "<meta charset='koi8-r'>";
    let bytes = [meta.as_bytes(), &WINDOWS_1251.encode(RUSSIAN).0].concat();
    assert_eq!(read(&page(&bytes)).1, KOI8_R);
    for said in ["text/html; charset=windows-1251", "cp1251", "text/html;Charset=\"windows-1251\""] {
        let raw = RawPage { content_type: Some(said), ..page(&bytes) };
        assert_eq!(read(&raw), (format!("{meta}{RUSSIAN}"), WINDOWS_1251, false), "{said}");
    }
    for (mark, wide) in [([0xFF, 0xFE], UTF_16LE), ([0xFE, 0xFF], UTF_16BE)] {
        let units = RUSSIAN.encode_utf16();
        let body: Vec<u8> =
            units.flat_map(|unit| if wide == UTF_16LE { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect();
        let whole = [&mark[..], &body].concat();
        let raw = RawPage { content_type: Some("text/html; charset=gbk"), ..page(&whole) };
        assert_eq!(read(&raw), (RUSSIAN.to_owned(), wide, false));
    }
    let whole = format!("\u{FEFF}{meta}{RUSSIAN}");
    assert_eq!(read(&page(whole.as_bytes())), (format!("{meta}{RUSSIAN}"), UTF_8, false));
}

#[test]
fn declarations_are_found_in_every_spelling_and_nowhere_else() {
    let bytes = WINDOWS_1251.encode(RUSSIAN).0;
    let declared = |head: &str| read(&page(&[head.as_bytes(), &bytes].concat())).1;
    for head in [
        "<meta charset=koi8-r>",
        "<META  CharSet = \"KOI8-R\" />",
        "<meta http-equiv='Content-Type' content='text/html; charset=koi8-r'>",
        "<meta content=\"text/html;charset=koi8-r\" http-equiv=content-type>",
        "<?xml version=\"1.0\" encoding=\"koi8-r\"?>",
        "<!-- <meta charset=big5> --><meta charset=nonsense><meta charset=koi8-r>",
    ] {
        assert_eq!(declared(head), KOI8_R, "{head}");
    }
    for head in [
        "<meta name=description content='charset=koi8-r'>",
        "<!-- <meta charset=koi8-r> -->",
        "<meta charset=utf-16>",
        "<meta charset=x-user-defined>",
        "<meta charset=iso-2022-kr>",
        "<meta charset",
        "<meta =\"",
    ] {
        assert_eq!(declared(head), WINDOWS_1251, "{head}");
    }
}

#[test]
fn a_declaration_that_the_bytes_contradict_loses() {
    for meta in ["gbk", "windows-1252", "big5", "utf-16", "shift_jis", "iso-2022-jp"] {
        let text = format!("<meta charset={meta}>{CHINESE}");
        assert_eq!(read(&page(text.as_bytes())), (text.clone(), UTF_8, false), "{meta}");
    }
    for meta in ["utf-8", "big5", "euc-jp"] {
        let head = format!("<meta charset={meta}>");
        let bytes = [head.as_bytes(), &GBK.encode(&CHINESE.repeat(4)).0].concat();
        assert_eq!(read(&page(&bytes)), (head + &CHINESE.repeat(4), GBK, false), "{meta}");
    }
}

#[test]
fn a_damaged_page_stays_what_it_says() {
    let mut bytes = [b"<meta charset=gbk>".as_slice(), &GBK.encode(&CHINESE.repeat(4)).0].concat();
    let places: Vec<usize> = (60..bytes.len()).step_by(60).collect();
    places.iter().for_each(|at| bytes[*at] = 0xFF);
    let (_, encoding, malformed) = read(&page(&bytes));
    assert_eq!((encoding, malformed), (GBK, true));
}

#[test]
fn a_few_errors_do_not_unmake_utf_8() {
    let mut bytes = CHINESE.repeat(40).into_bytes();
    bytes[1] = b'?';
    bytes.truncate(bytes.len() - 1);
    let (text, encoding, malformed) = read(&page(&bytes));
    assert_eq!((encoding, malformed), (UTF_8, true));
    assert!(text.ends_with("大家都说好\u{FFFD}") && text.starts_with('\u{FFFD}'), "{text}");
    assert_eq!(text.matches('\u{FFFD}').count(), 3);
}

#[test]
fn ascii_and_nothing_are_what_they_say_or_utf_8() {
    assert_eq!(read(&page(b"")), (String::new(), UTF_8, false));
    assert_eq!(read(&page(b"<p>plain")), ("<p>plain".into(), UTF_8, false));
    assert_eq!(read(&page(b"<meta charset=gbk>")).1, GBK);
    assert_eq!(read(&RawPage { content_type: Some("utf-16le"), ..page(b"plain") }).1, UTF_8);
    assert_eq!(read(&RawPage { content_type: Some("utf-16le"), ..page(b"p\0l\0") }), ("pl".into(), UTF_16LE, false));
}

#[test]
fn no_more_is_decoded_than_is_allowed() {
    for encoding in [UTF_8, GBK] {
        let bytes = encoding.encode(CHINESE).0;
        for limit in [0, 1, 2, 3, 50, CHINESE.len() - 1, CHINESE.len()] {
            let raw = RawPage { content_type: Some(encoding.name()), ..page(&bytes) };
            let decoded = decode(&raw, limit);
            assert_eq!(decoded.text, CHINESE[..CHINESE.floor_char_boundary(limit)]);
            assert_eq!((decoded.cut, decoded.malformed), (limit < CHINESE.len(), false), "{limit}");
        }
    }
}

#[test]
fn the_country_of_the_host_is_its_last_label() {
    let of = |url| top_level_domain(url).map(|label| String::from_utf8(label).unwrap());
    assert_eq!(of("http://user@www.Example.RU:80/a?b").as_deref(), Some("ru"));
    assert_eq!(of("https://example.cn.").as_deref(), Some("cn"));
    for none in ["", "example", "http://", "http://localhost/", "http://пример.рф/", "http://a./.b", "http://a.b c/"]
    {
        assert_eq!(of(none), None, "{none}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_it(
        head in "(<meta (charset|content|http-equiv)=?[\"']?(gbk|big5|utf-8|iso-2022-jp|x)?[ >\"';]*){0,3}",
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        said in proptest::option::of("(text/plain; ?)?(charset=)?(gbk|utf-16le|utf-8|euc-kr|.{0,5})"),
        limit in 0_usize..400,
    ) {
        let bytes = [head.as_bytes(), &bytes].concat();
        let raw = RawPage { bytes: &bytes, content_type: said.as_deref(), url: said.as_deref() };
        let decoded = decode(&raw, limit);
        prop_assert!(decoded.text.len() <= limit);
        prop_assert!(decoded.cut || decoded.malformed == decode(&raw, 4000).malformed);
    }
}

#[test]
fn a_server_that_says_what_it_says_of_all_is_not_believed() {
    let said = Some("text/html; charset=ISO-8859-1");
    for (name, sentence) in [
        ("gbk", CHINESE),
        ("big5", "臺灣的天氣今天很好，我們去海邊散步，看見許多人。"),
        ("windows-1251", RUSSIAN),
        ("koi8-r", RUSSIAN),
    ] {
        let encoding = Encoding::for_label(name.as_bytes()).expect("a label");
        let body = sentence.repeat(6);
        for meta in [format!("<meta charset={name}>"), "<meta charset=iso-8859-1>".into(), String::new()] {
            let page = format!("<html><head>{meta}<body><p>{body}");
            let (bytes, _, _) = encoding.encode(&page);
            let decoded = decode(&RawPage { bytes: &bytes, content_type: said, url: None }, 1 << 20);
            assert_eq!(decoded.text, page, "{name} {meta}");
        }
    }
    let french = "<p>Le château était fermé, déjà à Pâques ; très tôt, les élèves sont passés.".repeat(5);
    let (bytes, _, _) = encoding_rs::WINDOWS_1252.encode(&french);
    let decoded = decode(&RawPage { bytes: &bytes, content_type: said, url: None }, 1 << 20);
    assert_eq!((decoded.text.as_ref(), decoded.encoding), (french.as_str(), encoding_rs::WINDOWS_1252));
}

#[test]
fn utf_16_shows_without_a_mark() {
    let pages =
        [RUSSIAN, CHINESE].map(|text| format!("<html><head><title>{text}</title></head><body><p>{}", text.repeat(4)));
    for (page, (big, encoding)) in pages.iter().flat_map(|page| [(page, (false, UTF_16LE)), (page, (true, UTF_16BE))]) {
        let bytes: Vec<u8> =
            page.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect();
        for said in [None, Some("text/html; charset=utf-8"), Some("utf-16")] {
            let decoded = decode(&RawPage { bytes: &bytes, content_type: said, url: None }, 1 << 20);
            assert_eq!((decoded.text.as_ref(), decoded.encoding), (page.as_str(), encoding), "{said:?}");
        }
    }
}

#[test]
fn what_tells_the_charset_may_come_late() {
    let script = format!("<script>{}</script>", "var a = 1; ".repeat(120_000));
    let page = format!("{script}<p>{}", RUSSIAN.repeat(4));
    let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(&page);
    for said in [None, Some("text/html; charset=utf-8")] {
        let decoded = decode(&RawPage { bytes: &bytes, content_type: said, url: None }, 4 << 20);
        assert!(decoded.text == page, "{said:?}: {}", decoded.encoding.name());
    }
    let decoded = decode(&RawPage { bytes: page.as_bytes(), content_type: Some("gbk"), url: None }, 4 << 20);
    assert!(decoded.text == page, "{}", decoded.encoding.name());
}
