//! Formats the passes of a run as a table, which is shown before the run starts.

use bytesize::ByteSize;

use super::tables::table;
use dupsift_engine::job::Pass;

/// The width of the table; its last column is prose.
const WIDTH: u16 = 120;

/// Returns a table with one row per pass: what the pass reads, approximately how much it writes to temporary files, what it does, and for
/// which algorithms. `is_sample` specifies whether only a sample is read.
pub fn plan(passes: &[Pass], is_sample: bool) -> String {
    let size = |bytes: u64| if bytes == 0 { "-".into() } else { ByteSize(bytes).to_string() };
    let row = |pass: &Pass| [pass.name.into(), size(pass.reads), size(pass.writes), pass.does.clone()];
    let title = if is_sample { "passes over the sample\n\n" } else { "" };
    title.to_owned() + &table(["pass", "reads", "temporary files", "what it does"], passes.iter().map(row), Some(WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_pass() {
        let first = Pass {
            name: "first pass",
            does: "sign: exact".into(),
            is_reading: true,
            reads: 2048,
            writes: 5,
            ..Pass::default()
        };
        let group = Pass { name: "group", does: "pair documents with equal keys: exact".into(), ..Pass::default() };
        expect_test::expect![[r#"
             pass         reads     temporary files   what it does
            --------------------------------------------------------------------------------
             first pass   2.0 KiB   5 B               sign: exact
             group        -         -                 pair documents with equal keys: exact
        "#]]
        .assert_eq(&plan(&[first.clone(), group], false));
        assert!(plan(&[first], true).starts_with("passes over the sample\n\n pass "));
    }
}
