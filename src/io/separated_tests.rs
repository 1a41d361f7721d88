//! Tables as text: rows are those of the JSON lines that say the same, with any quotes, line ends, marks and cuts.

use super::super::copying::Copying;
use super::super::format::Shared;
use super::super::testkit::{Read, gz, open, read, whole};
use super::super::want::Want;
use super::*;
use crate::batch::Id;
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
    let expected = [text(0, "кот, \"пёс\"\nи 猫", "1"), (1, Ok(None), None), text(2, "", "007"), text(3, " a b ", "x")];
    let plain = "id,text,n\n1,\"кот, \"\"пёс\"\"\nи 猫\",7\n,,\n007,\"\",\n\nx, a b ,\"\"\n";
    let comma = folder.path().join("a.csv");
    assert_eq!(rows_of(&comma, plain.as_bytes()), expected);
    assert_eq!(rows_of(&comma, &[b"\xEF\xBB\xBF", plain.trim_end().as_bytes()].concat()), expected);
    let windows = "\"id\",\"text\",n\r\n1,\"кот, \"\"пёс\"\"\nи 猫\",7\r\n,,\r\n007,\"\",\r\n\r\nx, a b ,\"\"\r\n";
    assert_eq!(rows_of(&comma, windows.as_bytes()), expected);
    assert_eq!(rows_of(&folder.path().join("b.csv.gz"), &gz(windows.as_bytes())), expected);
    // The last field is empty: a tab at the end is no white space.
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
    // A quote that is not closed takes all that follows; what stands before it takes part.
    std::fs::write(&path, "id,text\n1,a\n2,\"b\n3,c\n").expect("written");
    let (source, bad) = open(&[&path]).expect("opened");
    assert!(bad.len() == 1 && bad[0].takes_part && bad[0].why.contains("from byte 12 on"), "{bad:?}");
    let rows = read(&source, &whole(), usize::MAX).expect("read");
    assert!(rows.len() == 2 && rows[0] == text(0, "a", "1") && why(&rows[1]).contains("not closed"), "{rows:?}");
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
    assert!(refused(b"1,a\n2,b\n").contains("no column \"text\"; there are 1, a (the first line names the columns)"));
    assert!(refused(b"text,id,text\na,1,b\n").contains("two columns are called \"text\""));
    assert!(refused(b"\"text,id\na,1\n").contains("a quote is open at the end of the first line"));
    assert!(refused(b"te\xFFxt\na\n").contains("not UTF-8"));
    // An empty file has no rows; a name that stands twice does not matter where it is not asked for.
    assert_eq!([refused(b""), refused(b"\n\n"), refused(b"text,x,x\na,1,2\n")], ["", "", ""]);
}

#[test]
fn values_are_numbers_where_they_are_written_so() {
    let (names, columns) = (Names { all: vec!["title".into()], delimiter: b',' }, super::super::testkit::columns());
    let shared = Shared::default();
    let value = |text: &str, spelled: bool| {
        let want = Want { spelled, ..Want::default() };
        let part = super::super::format::Part { from: 0, to: u64::MAX, skip: 0 };
        let (path, coding) = (Path::new("a.csv"), Coding::default());
        let reading = Reading {
            path,
            coding,
            repacked: None,
            unpacked: &super::super::unpacked_bytes::UnpackedBytes::default(),
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
        let hold = |_: u64, run: &mut dyn FnMut()| Ok(run());
        let (file, go_on) = (&source.files[0], || Ok(()));
        let (path, coding) = (&*file.path, file.coding);
        let copying = Copying { path, coding, rows: 3, chosen, small: 0, hold: &hold, go_on: &go_on, out: &out };
        file.copy_rows(&copying).expect("copied");
        std::fs::read(&out).expect("a copy")
    };
    assert_eq!(copy(&|row| row != 1), b"id,text\r\n1,\"a\nb\"\r\n\r\n3,\"d\"\r\n");
    assert_eq!(copy(&|_| true), bytes);
}
