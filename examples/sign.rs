//! Computes signatures of two texts, and their similarity.

/// The program.
pub(crate) fn main() -> dupsift::Result<()> {
    let (one, other) =
        ("The cat sat on the mat, and the dog beside it.", "The cat sat on a mat, and the dog beside it.");
    for text in [one, other] {
        for row in dupsift::sign(text, "simhash")?.rows {
            println!("position {}, key {:032x}", row.position, row.key);
        }
    }
    println!("{:.3} of their shingles of three words", dupsift::similarity(one, other, "jaccard:words3")?);
    Ok(())
}
