//! Tests transcripts of the command line: `tests/cmd/*.trycmd` contain commands and their expected output.
//!
//! `TRYCMD=overwrite` updates them; review the difference before you commit it.

#[test]
fn the_command_line_answers_as_written() {
    let cases = trycmd::TestCases::new();
    cases.register_bin("dupsift", std::path::Path::new(crate::kit::built()));
    // The result must not depend on the environment of the developer's terminal.
    cases.env("NO_COLOR", "1").env("RUST_LOG", "").env("COLUMNS", "100");
    cases.case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
}
