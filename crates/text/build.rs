//! Builds the tables of the Chinese dictionary at compile time, so that the program does not have to.
//!
//! It uses the program's own code (`src/tokenizer/dict/`), which builds the same kind of tables at run time if there is a user dictionary.
//! Tests ensure that both give the same result.

// The modules are written for the crates that have them.
#![allow(unreachable_pub)]

use std::path::{Path, PathBuf};
use std::{env, error, fs};

#[allow(dead_code)]
#[path = "src/tokenizer/dict/best_path.rs"]
mod best_path;
#[allow(dead_code)]
#[path = "../core/src/cpu.rs"]
mod cpu;
#[allow(dead_code)]
#[path = "../core/src/float.rs"]
mod float;
#[allow(dead_code)]
#[path = "src/tokenizer/dict/letters.rs"]
mod letters;
#[path = "src/tokenizer/dict/parse.rs"]
mod parse;
#[allow(dead_code)]
#[path = "src/tokenizer/dict/tables.rs"]
mod tables;
#[path = "src/tokenizer/dict/trie.rs"]
mod trie;
#[allow(dead_code)]
#[path = "src/tokenizer/dict/unknown.rs"]
mod unknown;
#[allow(dead_code)]
#[path = "src/tokenizer/dict/vocabulary.rs"]
mod vocabulary;
#[allow(dead_code)]
#[path = "src/tokenizer/dict/words.rs"]
mod words;
#[path = "src/tokenizer/dict/write.rs"]
mod write;

fn main() -> Result<(), Box<dyn error::Error>> {
    let folder = Path::new("src/tokenizer/dict");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../core/src/cpu.rs");
    println!("cargo::rerun-if-changed=../core/src/float.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let little = env::var("CARGO_CFG_TARGET_ENDIAN")? == "little";
    if little != cfg!(target_endian = "little") {
        return Err("the tables of the dictionary are in the order of bytes of the machine that builds: \
            build on one with the order of the target"
            .into());
    }
    let dictionary = unpacked(&folder.join("data/dict.txt.zst"))?;
    let model = unpacked(&folder.join("data/hmm.model.zst"))?;
    let cutter = best_path::Cutter::new(&vocabulary::Vocabulary::new(&dictionary), &model);
    // Only cargo writes to this folder.
    #[allow(clippy::disallowed_methods)]
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("dict.tables"), cutter.write(&dictionary))?;
    Ok(())
}

fn unpacked(path: &Path) -> Result<String, Box<dyn error::Error>> {
    Ok(String::from_utf8(zstd::decode_all(fs::File::open(path)?)?)?)
}
