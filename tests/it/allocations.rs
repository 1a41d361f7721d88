//! Tests the number of allocations per signed document. Buffers are reused for the next document, so words require no allocations, and a
//! document requires only a few, regardless of its length. The comparison of two signatures requires no allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dupsift::algorithm::{ALGORITHMS, Corpus, Params, specs};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::row::{Pairs, Row, RowLayout, Signatures, Window};
use dupsift_text::{Pipeline, TextOptions};

/// Counts the allocations of each thread and forwards every call to the system's allocator.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn called() {
    // When a thread ends, its counter may already have been destroyed.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: every call is passed unchanged to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        called();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        called();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations for one document in the middle of a list of equally long documents, after the buffers have grown.
fn calls(algorithm: &str, words: usize, chinese: bool) -> u64 {
    let algorithm = ALGORITHMS.iter().find(|one| one.name() == algorithm).expect("a member of the family");
    let params = Params::check(algorithm.name(), &specs(*algorithm), &[]).expect("defaults");
    let stats = CorpusStats::none();
    let signer = algorithm.signer(&params, &Corpus::new(1_000, &stats)).expect("defaults");
    let pipeline = Pipeline::new(&TextOptions::default()).expect("defaults");
    let text = |document: usize| -> String {
        let word = |at: usize| match chinese {
            true => ["搜索引擎", "网页", "重复的", "文档，", "被删除。"][(at * 7 + document) % 5].to_owned(),
            false => {
                format!("слово{} word{}{}", at % 97, at * document % 89, if at.is_multiple_of(11) { ". " } else { " " })
            }
        };
        (0..words).map(word).collect()
    };
    let mut out = Signatures::default();
    let mut sign = |text: &str| {
        out.clear();
        signer.sign(&pipeline.analyse(text), &mut out);
        out.rows(0).count()
    };
    for document in 0..4 {
        sign(&text(document));
    }
    let text = text(2);
    let before = CALLS.get();
    let rows = sign(&text);
    let calls = CALLS.get() - before;
    assert!(rows > 0, "{}: no signature", algorithm.name());
    calls
}

/// Checks the comparison of bit vectors that match in a table. The buffers of one window are reused for the next window.
#[test]
fn a_comparison_costs_no_allocation() {
    let stats = CorpusStats::none();
    for algorithm in ["simhash", "random_projection"] {
        let algorithm = ALGORITHMS.iter().find(|one| one.name() == algorithm).expect("a member of the family");
        let params = Params::check(algorithm.name(), &specs(*algorithm), &[]).expect("defaults");
        let signer = algorithm.signer(&params, &Corpus::new(1_000, &stats)).expect("defaults");
        let shape = signer.scheme().probe_shape().expect("tables");
        let layout = RowLayout::new(shape, 1_000);
        let mut rows = Vec::new();
        for doc in 0..500 {
            // These vectors differ in at most two bits.
            let mut sketch = vec![0; shape.sketch];
            sketch[0] = 1 << (doc % 8);
            layout.encode(&Row { position: 0, key: 7, order: 0, doc, sketch: &sketch }, &mut rows);
        }
        let window = Window::new(layout, &rows);
        let mut found = 0;
        let mut sink = |_| found += 1;
        let mut pairs = Pairs::new(u64::MAX, &mut sink);
        signer.pairs(&window, &mut pairs);
        let before = CALLS.get();
        signer.pairs(&window, &mut pairs);
        let calls = CALLS.get() - before;
        assert_eq!((pairs.compared, pairs.left_out, calls), (2 * 500 * 499 / 2, 0, 0), "{}", algorithm.name());
        assert!(found > 0, "{}: nothing was found", algorithm.name());
    }
}

#[test]
fn a_document_costs_a_handful_and_a_word_nothing() {
    for (algorithm, most) in [
        ("exact", 0),
        ("simhash", 4),
        ("minhash", 4),
        ("tf", 8),
        ("tf_idf", 8),
        ("near_page", 8),
        ("idf_hash", 8),
        ("megashingles", 4),
        ("log_shingles", 4),
        ("random_projection", 4),
    ] {
        let (short, long) = (calls(algorithm, 200, false), calls(algorithm, 4_000, false));
        assert!(short <= most && long <= most, "{algorithm}: {short} calls for 400 words, {long} for 8,000");
        assert!(long <= short + 2, "{algorithm}: {short} calls for 400 words, {long} for 8,000");
    }
    for algorithm in ["simhash", "minhash", "megashingles", "log_shingles"] {
        let (short, long) = (calls(algorithm, 200, true), calls(algorithm, 4_000, true));
        assert!(
            short <= 4 && long <= short,
            "{algorithm}: {short} calls for a short Chinese text, {long} for a long one"
        );
    }
}
