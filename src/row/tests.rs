//! Rows and pairs survive the trip as bytes, and hot groups are bounded and counted.

use super::*;

fn row(position: u32, key: u128, order: u32, doc: u64, sketch: &[u8]) -> Row<'_> {
    Row { position, key, order, doc, sketch }
}

#[test]
fn rows_survive_the_trip_and_compare_as_bytes() {
    let shape = RowShape { positions: 20, key_bits: 64, ordered: true, sketch: 3 };
    for documents in [10, u64::MAX] {
        let layout = RowLayout::new(shape, documents);
        let rows =
            [row(0, 7, 9, 3, b"abc"), row(0, 8, 1, 2, b"abd"), row(1, 0, 0, 1, b"xyz"), row(1, 0, 1, 0, b"...")];
        let bytes: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| {
                let mut out = Vec::new();
                layout.encode(row, &mut out);
                assert_eq!(layout.decode(&out), *row);
                assert_eq!(out.len(), layout.width());
                out
            })
            .collect();
        assert!(bytes.is_sorted());
    }
    let wide = RowLayout::new(RowShape { positions: 1, key_bits: 128, ordered: false, sketch: 0 }, 5);
    let mut out = Vec::new();
    wide.encode(&row(0, u128::MAX - 1, 0, 4, b""), &mut out);
    assert_eq!((out.len(), wide.decode(&out).key), (20, u128::MAX - 1));
}

#[test]
fn pairs_survive_the_trip() {
    let layout = PairLayout::new(100);
    for distance in [None, Some(3.0)] {
        let pair = Pair::new(9, 4, Score { similarity: 0.75, distance }, 5);
        let mut out = Vec::new();
        layout.encode(&pair, &mut out);
        assert_eq!((out.len(), layout.decode(&out)), (layout.width(), pair));
        assert_eq!((pair.a, pair.b), (4, 9));
    }
}

#[test]
fn a_hot_group_is_compared_in_proportion_to_its_size_and_counted() {
    let layout = RowLayout::new(RowShape::KEY64, 1000);
    let mut bytes = Vec::new();
    (0..100).for_each(|doc| layout.encode(&row(0, 1, 0, doc, b""), &mut bytes));
    let window = Window::new(layout, &bytes);
    for (bound, compared) in [(4950, 4950), (1000, 100 * 10 - 55), (1, 99)] {
        let mut found = 0;
        let mut sink = |_| found += 1;
        let mut pairs = Pairs::new(bound, &mut sink);
        pairs.compare_all(&window, |x, y| Some(Pair::new(x.doc, y.doc, Score::EQUAL, 1)));
        assert_eq!((pairs.compared, pairs.left_out), (compared, 4950 - compared));
        assert_eq!(found, compared);
    }
}
