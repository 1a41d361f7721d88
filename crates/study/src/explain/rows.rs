//! Shows the signature rows of two documents side by side.

use super::explanation::{ExplainedKey, ExplainedRow};
use super::look::Emitted;

/// Aligns the rows of both documents. At each position, equal rows come first, side by side, and all other rows follow in order.
pub(crate) fn beside(a: &[Emitted], b: &[Emitted]) -> Vec<ExplainedRow> {
    let place = |row: &Emitted| (row.position, row.key);
    let mut rows = Vec::new();
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) if place(x) == place(y) => {
                rows.push((x.position, Some(x), Some(y)));
                (i, j) = (i + 1, j + 1);
            }
            (Some(x), y) if y.is_none_or(|y| place(x) < place(y)) => {
                only_a.push(x);
                i += 1;
            }
            (_, Some(y)) => {
                only_b.push(y);
                j += 1;
            }
            _ => break,
        }
    }
    let (mut a, mut b) = (only_a.into_iter().peekable(), only_b.into_iter().peekable());
    loop {
        let position = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => x.position.min(y.position),
            (Some(x), None) => x.position,
            (None, Some(y)) => y.position,
            (None, None) => break,
        };
        rows.push((position, a.next_if(|row| row.position == position), b.next_if(|row| row.position == position)));
    }
    rows.sort_by_key(|row| row.0);
    let row = |(position, a, b): (u32, Option<&Emitted>, Option<&Emitted>)| ExplainedRow {
        position,
        equal: matches!((a, b), (Some(a), Some(b)) if a.key == b.key),
        a: a.map(key),
        b: b.map(key),
    };
    rows.into_iter().map(row).collect()
}

fn key(row: &Emitted) -> ExplainedKey {
    let wide = row.key > u128::from(u64::MAX);
    ExplainedKey {
        key: if wide { format!("{:032x}", row.key) } else { format!("{:016x}", row.key) },
        order: row.order,
        sketch: row.sketch.iter().map(|byte| format!("{byte:02x}")).collect(),
        says: row.description.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emitted(position: u32, key: u128) -> Emitted {
        Emitted { position, key, order: 0, sketch: vec![0xAB, 1], description: None }
    }

    #[test]
    fn equal_rows_stand_beside_each_other() {
        let a = [emitted(0, 1), emitted(0, 5), emitted(1, 7), emitted(2, 9)];
        let b = [emitted(0, 3), emitted(0, 5), emitted(0, 8), emitted(1, 6), emitted(3, 9)];
        let rows: Vec<String> = beside(&a, &b)
            .iter()
            .map(|row| {
                let key = |key: &Option<ExplainedKey>| {
                    key.as_ref().map_or("-".to_string(), |key| key.key.trim_start_matches('0').to_string())
                };
                format!("{} {} {} {}", row.position, key(&row.a), key(&row.b), row.equal)
            })
            .collect();
        assert_eq!(rows, ["0 5 5 true", "0 1 3 false", "0 - 8 false", "1 7 6 false", "2 9 - false", "3 - 9 false"]);
        assert_eq!(key(&a[0]).sketch, "ab01");
        assert_eq!(beside(&[], &[]), []);
    }
}
