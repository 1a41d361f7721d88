//! Checks that separated values give the same rows as equivalent JSON lines, regardless of quotes, line breaks, byte order marks, and how
//! the file is split.

use crate::format::read::Shared;
use crate::format::want::Want;
use crate::lines::separated::*;
use crate::testkit::{Read, copy, gz, open, read, whole};
use dupsift_tables::Id;
use std::path::Path;

fn rows_of(path: &Path, bytes: &[u8]) -> Vec<Read> {
    std::fs::write(path, bytes).expect("written");
    let (source, bad) = open(&[path]).expect("opened");
    assert!(bad.is_empty(), "{bad:?}");
    let rows = read(&source, &whole(), usize::MAX).expect("read");
    assert_eq!(read(&source, &whole(), 1).expect("read"), rows, "in pieces");
    rows
}

fn text(doc: u64, text: &str, id: &str) -> Read {
    (doc, Ok(Some(text.to_owned())), Some(Id::Text(id.to_owned())))
}

#[test]
fn records_are_rows_whatever_their_quotes_and_line_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let blank = (2, Err("empty text".to_owned()), Some(Id::Text("007".to_owned())));
    let expected = [text(0, "кот, \"пёс\"\nи 猫", "1"), (1, Ok(None), None), blank, text(3, " a b ", "x")];
    let plain = "id,text,n\n1,\"кот, \"\"пёс\"\"\nи 猫\",7\n,,\n007,\"\",\n\nx, a b ,\"\"\n";
    let comma = folder.path().join("a.csv");
    assert_eq!(rows_of(&comma, plain.as_bytes()), expected);
    assert_eq!(rows_of(&comma, &[b"\xEF\xBB\xBF", plain.trim_end().as_bytes()].concat()), expected);
    let windows = "\"id\",\"text\",n\r\n1,\"кот, \"\"пёс\"\"\nи 猫\",7\r\n,,\r\n007,\"\",\r\n\r\nx, a b ,\"\"\r\n";
    assert_eq!(rows_of(&comma, windows.as_bytes()), expected);
    assert_eq!(rows_of(&folder.path().join("b.csv.gz"), &gz(windows.as_bytes())), expected);
    // The last field is empty, because a tab at the end of a line counts as a separator.
    let tabs = "id\ttext\tn\n1\t\"кот, \"\"пёс\"\"\nи 猫\"\t\n\t\t\n007\t\"\"\t\nx\t a b \t\n";
    assert_eq!(rows_of(&folder.path().join("c.tsv"), tabs.as_bytes()), expected);
}

#[test]
fn many_pieces_give_the_rows_of_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |n: usize| format!("{n},\"{}\n\"\"{n}\"\"\"\r\n", "кот ".repeat(300));
    let all = "id,text\r\n".to_owned() + &(0..3000).map(record).collect::<String>();
    let rows = rows_of(&folder.path().join("a.csv"), all.as_bytes());
    assert!(all.len() > 4 << 20 && rows.len() == 3000);
    assert!(rows[2999].1.as_ref().is_ok_and(|text| text.as_ref().is_some_and(|text| text.ends_with("\n\"2999\""))));
    let (source, _) = open(&[&folder.path().join("a.csv")]).expect("opened");
    assert!(source.splits(1).len() > 3);
}

#[test]
fn what_is_no_record_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let why = |row: &Read| row.1.as_ref().expect_err("rejected").clone();
    let rows = rows_of(&path, b"id,text\n1\n2,a,b\n3,\xFF\n4,d\n");
    assert!(why(&rows[0]).contains("1 fields; expected 2"), "{rows:?}");
    assert!(why(&rows[1]).contains("3 fields") && why(&rows[2]).contains("not UTF-8"), "{rows:?}");
    assert_eq!(rows[3], text(3, "d", "4"));
    // A line with an unclosed quote is invalid.
    let rows = rows_of(&path, b"id,text\n1,a\n2,\"b\n3,c\n\"4\",\"d\"");
    assert!(why(&rows[1]).contains("not closed properly"), "{rows:?}");
    assert_eq!([&rows[0], &rows[2], &rows[3]], [&text(0, "a", "1"), &text(2, "c", "3"), &text(3, "d", "4")]);
    // A line with text after a closing quote, even if it is only white space, is also invalid; all other lines are used.
    let rows = rows_of(&path, b"id,text\n1,\"a\" b,\"c\n2,\"b\" \n3,\"c\nd\" e\n4,\"f\ng\"\r\n");
    assert!(rows[..3].iter().all(|row| row.1.is_err()) && rows[3].1.is_err(), "{rows:?}");
    assert!(why(&rows[0]).contains("text follows a closing quote") && why(&rows[1]).contains("text follows"));
    assert!(why(&rows[2]).contains("not closed properly") && why(&rows[3]).contains("1 fields"), "{rows:?}");
    assert_eq!(rows[4..], [text(4, "f\ng", "4")]);
}

#[test]
fn a_stray_quote_costs_its_line_wherever_it_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |n: usize| [n.to_string(), format!("row number {n} has words"), format!("u{n}")];
    for (delimiter, name) in [(",", "a.csv"), ("\t", "a.tsv"), (",", "a.csv.gz")] {
        // Returns a later field that contains the next quote; `None` if no other quote follows.
        type Close = fn(usize, &str) -> String;
        let closes: [Option<Close>; 5] = [
            None,
            Some(|_, text| format!("\"{text}\" later")),
            Some(|_, text| format!("\"{text}\"")),
            Some(|_, text| format!("\"said \"\"{text}\"\"\"")),
            Some(|column, text| if column == 0 { format!("{text}\"") } else { format!("\"{text}\" \"") }),
        ];
        for (at, closing) in closes.into_iter().enumerate() {
            for opened in 0..3 {
                for closed in 0..3 {
                    // If a later row closes the quote in the same column, everything in between is part of a single valid record.
                    if at == 4 && opened == 0 && closed == 0 {
                        continue;
                    }
                    let mut rows: Vec<_> = (0..800).map(row).collect();
                    rows[10][opened].insert(0, '"');
                    let closes = closing.map(|close| close(closed, &rows[600][closed]));
                    if let Some(close) = closes {
                        rows[600][closed] = close;
                    }
                    let lines: String = rows.iter().map(|row| row.join(delimiter) + "\r\n").collect();
                    let bytes = format!("id{delimiter}text{delimiter}url\r\n{lines}").into_bytes();
                    let read =
                        rows_of(&folder.path().join(name), &if name.ends_with("gz") { gz(&bytes) } else { bytes });
                    let rejected: Vec<u64> = read.iter().filter(|row| row.1.is_err()).map(|row| row.0).collect();
                    let expected = if at == 1 || (at == 4 && closed > 0) { vec![10, 600] } else { vec![10] };
                    assert_eq!((read.len(), rejected), (800, expected), "{name} {at} {opened} {closed}");
                    assert_eq!(read[601], text(601, "row number 601 has words", "601"));
                }
            }
        }
    }
}

#[test]
fn without_quotes_each_line_is_a_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.tsv.gz");
    let bytes = b"id\ttext\n\"1\t\"Open\n2\t\"closed\" later\r\n3\ta \"\"b\"\"\n\n4\t\"\"\n";
    std::fs::write(&path, gz(bytes)).expect("written");
    let coding = Coding { quoting: crate::dialect::Quoting::None, ..Coding::default() };
    let taking = crate::find::taking::Taking { coding, ..Default::default() };
    let found = crate::find::inputs::find_all(&[path.to_string_lossy().into_owned()], taking).expect("found");
    let (source, bad) = crate::corpus::source::open(found, &crate::testkit::columns(), 1, None).expect("opened");
    assert!(bad.is_empty(), "{bad:?}");
    let expected =
        [text(0, "\"Open", "\"1"), text(1, "\"closed\" later", "2"), text(2, "a \"\"b\"\"", "3"), text(3, "\"\"", "4")];
    assert_eq!(read(&source, &whole(), usize::MAX).expect("read"), expected);
}

/// Returns the positions where records begin and end, and checks each record separately.
fn records_one_by_one(bytes: &[u8], columns: usize, longest: usize) -> Vec<(u64, usize)> {
    let line = |from: usize| bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| from + end);
    let whole = |start: usize| {
        let (mut at, mut count) = (start, 1);
        loop {
            if bytes.get(at) == Some(&b'"') {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"' || bytes.get(at + 1) == Some(&b'"')) {
                    at += if bytes[at] == b'"' { 2 } else { 1 };
                }
                at = if at < bytes.len() { at + 1 } else { return None };
                let rest = &bytes[at..];
                if !(rest.is_empty() || rest == b"\r" || b",\n".contains(&rest[0]) || rest.starts_with(b"\r\n")) {
                    return None;
                }
            }
            at += bytes[at..].iter().position(|byte| b",\n".contains(byte)).unwrap_or(bytes.len() - at);
            if bytes.get(at) != Some(&b',') {
                let fits = at == line(start) || (count == columns && at - start <= longest);
                return fits.then_some(at);
            }
            (at, count) = (at + 1, count + 1);
        }
    };
    let (mut start, mut all) = (0, Vec::new());
    while start < bytes.len() {
        let end = whole(start).unwrap_or_else(|| line(start));
        if bytes[start..end].iter().any(|byte| *byte != b'\r') {
            all.push((start as u64, end - start));
        }
        start = end + 1;
    }
    all
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 2000, ..Default::default() })]
    #[test]
    fn records_are_those_found_one_by_one(
        parts in proptest::collection::vec(proptest::sample::select(vec!["a", "\"", "\"\"", ",", ",\"", "\",", "\n", "\n", "\"\n", "\n\"", "\r\n", "b c"]), 0..40),
        (columns, longest, buffer) in (1usize..4, 1u64..40, 1usize..9),
    ) {
        let bytes = parts.concat().into_bytes();
        let dialect = Dialect { delimiter: b',', quoting: crate::dialect::Quoting::Double };
        let open = |from: u64, to: u64| {
            let reader = io::BufReader::with_capacity(buffer, &bytes[from as usize..to as usize]);
            Lines::new(reader, from, 100).records(dialect, Some(columns), longest)
        };
        let expected = records_one_by_one(&bytes, columns, longest as usize);
        let (mut stepping, mut reading, mut passing) = (open(0, bytes.len() as u64), open(0, bytes.len() as u64), open(0, bytes.len() as u64));
        let (mut stepped, mut passed) = (Vec::new(), Vec::new());
        while let Some(start) = stepping.step().unwrap() {
            stepped.push((start, stepping.length as usize));
        }
        proptest::prop_assert_eq!(&stepped, &expected);
        let mut texts = Vec::new();
        while let Some((start, line)) = reading.next().unwrap() {
            let Line::Bytes(line) = line else { panic!("too long") };
            texts.push((start, line.to_vec()));
        }
        for ((start, text), (from, length)) in texts.iter().zip(&expected) {
            let record = &bytes[*from as usize..*from as usize + length];
            proptest::prop_assert_eq!((*start, &text[..]), (*from, record.strip_suffix(b"\r").unwrap_or(record)));
        }
        proptest::prop_assert_eq!(texts.len(), expected.len());
        while passing.step_with(|bytes| Ok(passed.extend_from_slice(bytes))).unwrap().is_some() {}
        proptest::prop_assert_eq!(&passed, &bytes);
        // A read that begins or ends at any row must return the same rows.
        for at in 0..expected.len() {
            let starts = |lines: &mut Lines<_>| -> Vec<u64> { std::iter::from_fn(|| lines.step().unwrap()).collect() };
            let own: Vec<u64> = expected.iter().map(|(start, _)| *start).collect();
            if own[at] > 0 {
                proptest::prop_assert_eq!(starts(&mut open(own[at], bytes.len() as u64)), &own[at..]);
                proptest::prop_assert_eq!(starts(&mut open(0, own[at])), &own[..at]);
            }
        }
    }
}

#[test]
fn many_stray_quotes_are_looked_up_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    // Each line opens a quote, and only the last line shows that one of the quotes is never closed.
    let lines = "x\",\"y\n".repeat(200_000);
    let rows = rows_of(&path, format!("id,text\nx,\"y\n{lines}x\" z,y\n").as_bytes());
    assert_eq!((rows.len(), rows.iter().filter(|row| row.1.is_err()).count()), (200_002, 200_001));
    assert_eq!(rows[200_001], text(200_001, "y", "x\" z"));
}

#[test]
fn a_file_has_to_name_its_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        match open(&[&path]) {
            Ok((_, bad)) => bad.into_iter().map(|bad| bad.why).collect::<String>(),
            Err(error) => error.to_string(),
        }
    };
    assert!(refused(b"1,a\n2,b\n").contains("no column \"text\"; available: 1, a (the first line names the columns)"));
    assert!(refused(b"text,id,text\na,1,b\n").contains("two columns are named \"text\""));
    assert!(refused(b"\"text,id\na,1\n").contains("the first line does not name the columns: a quote"));
    assert!(refused(b"\"te\"xt,id\na,1\n").contains("the first line does not name the columns: text follows"));
    assert!(refused(b"te\xFFxt\na\n").contains("not UTF-8"));
    // A column that is not requested may have any name.
    assert_eq!(refused(b"text,pri\xE8re\na,b\n"), "");
    // An empty file has no rows; a duplicate name is allowed if the column is not requested.
    assert_eq!([refused(b""), refused(b"\n\n"), refused(b"text,x,x\na,1,2\n")], ["", "", ""]);
}

#[test]
fn values_are_numbers_where_they_are_written_so() {
    let dialect = Dialect { delimiter: b',', ..Dialect::default() };
    let (names, columns) =
        (Names { all: vec!["title".into()], dialect, not_utf8: None, not_text: None }, crate::testkit::columns());
    let shared = Shared::default();
    let value = |text: &str, spelled: bool| {
        let want = Want { spelled, ..Want::default() };
        let part = crate::format::read::Part { from: 0, to: u64::MAX, skip: 0 };
        let (path, coding) = (Path::new("a.csv"), Coding::default());
        let reading = Reading {
            path,
            coding,
            repacked: None,
            unpacked: &crate::compressed::unpacked_bytes::UnpackedBytes::default(),
            longest: 9,
            label: "a.csv",
            part,
            first_doc: 0,
            rows: 1,
            chosen: None,
            has_id: false,
            columns: &columns,
            want: &want,
            shared: &shared,
        };
        Places::new(&names, &reading).parse(text.as_bytes(), &[Take::All]).expect("a row").others.remove(0)
    };
    let text = |text: &str| JsonValue::Text(text.to_owned());
    assert_eq!(
        ["7", "-3", "0.5"].map(|text| value(text, false)),
        [JsonValue::Int(7), JsonValue::Int(-3), JsonValue::Float(0.5)]
    );
    for kept in ["007", "1.50", "NaN", "+1", "2026-11-24", "a"] {
        assert_eq!(value(kept, false), text(kept));
    }
    assert_eq!((value("7", true), value("", true), value("\"\"", false)), (text("7"), JsonValue::Null, text("")));
}

#[test]
fn a_copy_has_the_names_and_the_bytes_of_the_rows_that_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let bytes = b"id,text\r\n1,\"a\nb\"\r\n2,c\r\n\r\n3,\"d\"\r\n";
    std::fs::write(&path, bytes).expect("written");
    let (source, _) = open(&[&path]).expect("opened");
    let out = folder.path().join("b.csv");
    let copy = |chosen: &dyn Fn(u64) -> bool| {
        copy(&source.files[0], chosen, 0, &out).expect("copied");
        std::fs::read(&out).expect("a copy")
    };
    assert_eq!(copy(&|row| row != 1), b"id,text\r\n1,\"a\nb\"\r\n\r\n3,\"d\"\r\n");
    assert_eq!(copy(&|_| true), bytes);
}
