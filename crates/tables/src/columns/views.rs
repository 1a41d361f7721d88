//! Copies view values out of the pages that they refer to.

use arrow::array::GenericByteViewArray;
use arrow::datatypes::ByteViewType;

/// Copies the values if their buffers contain a lot of data that does not belong to the values. Otherwise, returns the values unchanged,
/// because copying duplicates a long value for every row that shares it.
pub fn apart<T: ByteViewType>(values: &GenericByteViewArray<T>) -> GenericByteViewArray<T> {
    let held: usize = values.data_buffers().iter().map(|buffer| buffer.len()).sum();
    let used = values.total_buffer_bytes_used();
    if used + used / 8 >= held { values.clone() } else { values.gc() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::StringViewArray;
    use arrow::array::builder::StringViewBuilder;

    fn held(values: &StringViewArray) -> usize {
        values.data_buffers().iter().map(|buffer| buffer.len()).sum()
    }

    #[test]
    fn a_value_of_many_rows_stays_one_and_the_rest_of_a_page_goes() {
        let long = "x".repeat(1000);
        let mut builder = StringViewBuilder::new().with_deduplicate_strings();
        (0..16).for_each(|_| builder.append_value(&long));
        let many = builder.finish();
        assert_eq!((many.total_buffer_bytes_used(), held(&apart(&many)) < 2000), (16_000, true));
        let page = StringViewArray::from_iter_values((0..10).map(|row| row.to_string() + &long));
        let one = apart(&page.slice(3, 1));
        assert!(one.value(0).starts_with('3') && held(&one) < 2000 && held(&page) > 9000);
        // A page stores a length before each value; this small amount of other data does not cause a copy.
        assert_eq!(held(&apart(&page)), held(&page));
    }
}
