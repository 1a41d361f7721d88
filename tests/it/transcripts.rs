//! Transcripts of the command line: `tests/cmd/*.trycmd` say what is typed and what comes.
//!
//! `TRYCMD=overwrite` writes what came into them; read the difference before it is kept.

#[test]
fn the_command_line_answers_as_written() {
    let cases = trycmd::TestCases::new();
    cases.register_bin("dupsift", std::path::Path::new(env!("CARGO_BIN_EXE_dupsift")));
    // Nothing that the terminal of a developer says may show.
    cases.env("NO_COLOR", "1").env("RUST_LOG", "").env("COLUMNS", "100");
    cases.case("tests/cmd/*.trycmd").case("tests/cmd/*.toml");
}
