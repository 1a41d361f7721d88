//! Computes the first singular values and right singular vectors of a large sparse matrix by subspace iteration with a fixed start and
//! a fixed number of passes (Halko, Martinsson, Tropp 2011, Finding structure with randomness).
//!
//! The matrix A is read one row at a time, and is only used in products: each pass turns a block Q of orthonormal columns into A^T A Q.
//! nalgebra handles the small dense parts, but its fast product is not used, because its sums differ between processors. Sums follow the
//! order of the rows, so the result depends only on the matrix and the seed.
//!
//! Cost: passes x entries x 2 (k + 10) multiplications. Memory: four blocks of columns x (k + 10) eight-byte numbers.

use nalgebra::linalg::householder::clear_column_unchecked;
use nalgebra::{ComplexField, DMatrix, Reflection, SymmetricEigen, Unit};

use dupsift_core::error::Result;
use dupsift_core::hash::splitmix64;

/// The number of extra directions that improve the accuracy of the last requested directions.
pub(crate) const OVERSAMPLED: usize = 10;

/// Singular values below this share of the largest value are treated as 0.
const LEAST: f64 = 1e-6;

/// Provides a matrix one row at a time.
pub(crate) trait Rows {
    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Returns the number of columns.
    fn columns(&self) -> usize;

    /// Appends the nonzero entries of one row to `out`, as (column, value).
    ///
    /// # Errors
    /// Returns an error if the run was interrupted.
    fn row(&self, at: usize, out: &mut Vec<(usize, f64)>) -> Result<()>;

    /// Allows an interruption to stop a pass over the rows, which calls this method repeatedly.
    ///
    /// # Errors
    /// Returns an error if the run was interrupted.
    fn go_on(&self) -> Result<()>;
}

/// Holds the largest singular values with their vectors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Svd {
    /// The values, largest first. There are fewer values than requested if the remaining values are 0.
    pub values: Vec<f64>,
    /// The components of each matrix column in all vectors, column by column. In each vector, the component with the largest absolute value
    /// is positive.
    pub vectors: Vec<f64>,
}

/// Returns the first singular values of the matrix and their vectors; `wanted` is the number of values.
///
/// # Errors
/// Returns the errors of [`Rows::row`] and [`Rows::go_on`].
pub(crate) fn truncated(matrix: &dyn Rows, wanted: usize, passes: usize, seed: u64) -> Result<Svd> {
    let columns = matrix.columns();
    let width = (wanted + OVERSAMPLED).min(columns).min(matrix.rows());
    if width == 0 {
        return Ok(Svd { values: Vec::new(), vectors: Vec::new() });
    }
    let sign = |column: usize, at: usize| splitmix64(seed, (column * width + at) as u64) >> 63;
    let start = DMatrix::from_fn(columns, width, |column, at| sign(column, at) as f64 - 0.5);
    let mut basis = orthonormal(start, &|| matrix.go_on())?.transpose();
    for _ in 0..passes {
        basis = orthonormal(multiply(matrix, &basis)?.transpose(), &|| matrix.go_on())?.transpose();
    }
    // Q^T A^T A Q: its eigenvalues are the squares of the singular values, to the extent that Q spans them.
    let small = &basis * multiply(matrix, &basis)?.transpose();
    let eigen = SymmetricEigen::new((&small + small.transpose()) * 0.5);
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let value = |at: usize| eigen.eigenvalues[at].max(0.0).sqrt();
    let least = value(order[0]) * LEAST;
    order.truncate(wanted);
    order.retain(|&at| value(at) > least);

    let mut vectors = eigen.eigenvectors.select_columns(&order).transpose() * &basis;
    for mut vector in vectors.row_iter_mut() {
        // If several components are equal, the first of them is used.
        let greatest = vector.iter().fold(0.0f64, |best, &one| if one.abs() > best.abs() { one } else { best });
        if greatest < 0.0 {
            vector.neg_mut();
        }
    }
    Ok(Svd { values: order.iter().map(|&at| value(at)).collect(), vectors: vectors.as_slice().to_vec() })
}

/// Returns the factor Q of the QR decomposition, as nalgebra computes it, but calls `go_on` between columns, because the complete
/// computation takes minutes with a million words.
fn orthonormal(mut matrix: DMatrix<f64>, go_on: &dyn Fn() -> Result<()>) -> Result<DMatrix<f64>> {
    let (rows, columns) = matrix.shape();
    let mut norms = Vec::with_capacity(columns);
    for column in 0..rows.min(columns) {
        go_on()?;
        norms.push(clear_column_unchecked(&mut matrix, column, 0, None));
    }
    let mut basis = DMatrix::identity(rows, norms.len());
    for (column, norm) in norms.iter().enumerate().rev() {
        go_on()?;
        let mirror = Reflection::new(Unit::new_unchecked(matrix.view_range(column.., column)), 0.0);
        mirror.reflect_with_sign(&mut basis.view_range_mut(column.., column..), ComplexField::signum(*norm));
    }
    Ok(basis)
}

/// Returns A^T A Q, transposed like Q: one column of the block for each column of A, so that related values are adjacent.
fn multiply(matrix: &dyn Rows, block: &DMatrix<f64>) -> Result<DMatrix<f64>> {
    let width = block.nrows();
    let (from, mut product) = (block.as_slice(), DMatrix::zeros(width, block.ncols()));
    let to: &mut [f64] = product.as_mut_slice();
    let (mut row, mut sums) = (Vec::new(), vec![0.0; width]);
    for at in 0..matrix.rows() {
        row.clear();
        matrix.row(at, &mut row)?;
        sums.fill(0.0);
        for &(column, value) in &row {
            let block = &from[column * width..(column + 1) * width];
            sums.iter_mut().zip(block).for_each(|(sum, &one)| *sum += value * one);
        }
        for &(column, value) in &row {
            let product = &mut to[column * width..(column + 1) * width];
            product.iter_mut().zip(&sums).for_each(|(one, &sum)| *one += value * sum);
        }
    }
    Ok(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Dense(DMatrix<f64>);

    impl Rows for Dense {
        fn rows(&self) -> usize {
            self.0.nrows()
        }

        fn columns(&self) -> usize {
            self.0.ncols()
        }

        fn row(&self, at: usize, out: &mut Vec<(usize, f64)>) -> Result<()> {
            out.extend(self.0.row(at).iter().copied().enumerate().filter(|entry| entry.1 != 0.0));
            Ok(())
        }

        fn go_on(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_diagonal_matrix_is_its_own_decomposition() {
        let matrix = Dense(DMatrix::from_row_slice(4, 3, &[0., -3., 0., 1., 0., 0., 0., 0., 2., 0., 0., 0.]));
        let svd = truncated(&matrix, 2, 40, 1).unwrap();
        assert!((svd.values[0] - 3.0).abs() < 1e-9 && (svd.values[1] - 2.0).abs() < 1e-9, "{svd:?}");
        // Column 1 is in the first vector, column 2 in the second, column 0 in neither; no component is negative.
        let expected = [0., 0., 1., 0., 0., 1.];
        assert!(svd.vectors.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{svd:?}");
    }

    /// Compares the values with the eigenvalues of the complete A^T A.
    #[test]
    fn the_first_values_are_those_of_the_whole() {
        let entry = |row: usize, column: usize| match splitmix64(5, (row * 40 + column) as u64) % 1000 {
            value if value < 300 => value as f64 / 300.0 * 0.8f64.powi(column as i32 / 2),
            _ => 0.0,
        };
        let matrix = Dense(DMatrix::from_fn(90, 40, entry));
        let whole = SymmetricEigen::new(matrix.0.transpose() * &matrix.0);
        let mut expected: Vec<f64> = whole.eigenvalues.iter().map(|value| value.max(0.0).sqrt()).collect();
        expected.sort_by(|a, b| b.total_cmp(a));
        let svd = truncated(&matrix, 8, 12, 42).unwrap();
        assert_eq!((svd.values.len(), svd.vectors.len()), (8, 320));
        for (found, expected) in svd.values.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6 * expected, "{found}, not {expected}");
        }
        // The vectors are orthonormal, |A v| is the singular value, and the seed does not matter.
        let vector = |at: usize| DMatrix::from_fn(40, 1, |column, _| svd.vectors[column * 8 + at]);
        for (at, value) in svd.values.iter().enumerate() {
            assert!(((&matrix.0 * vector(at)).norm() - value).abs() < 1e-6 * value);
            assert!((vector(at).norm() - 1.0).abs() < 1e-9);
            assert!((0..at).all(|other| vector(at).dot(&vector(other)).abs() < 1e-9));
        }
        let other = truncated(&matrix, 8, 12, 43).unwrap();
        assert!(svd.values.iter().zip(&other.values).all(|(a, b)| (a - b).abs() < 1e-6));
        assert_eq!(svd, truncated(&matrix, 8, 12, 42).unwrap());
    }

    #[test]
    fn columns_at_right_angles_are_those_of_the_library_and_hear_between_two() {
        // The matrices are tall, square or wide, or have equal columns or a zero column.
        let entry = |row: usize, column: usize| (splitmix64(9, (row * 31 + column) as u64) % 7) as f64 - 3.0;
        for (rows, columns) in [(40, 9), (9, 9), (5, 8), (1, 1), (0, 3), (3, 0)] {
            let made = DMatrix::from_fn(rows, columns, entry);
            let equal = DMatrix::from_fn(rows, columns, |row, _| entry(row, 0));
            let mut hollow = made.clone();
            hollow.column_iter_mut().take(1).for_each(|mut column| column.fill(0.0));
            for matrix in [made, equal, hollow] {
                let bits = |matrix: &DMatrix<f64>| matrix.iter().map(|one| one.to_bits()).collect::<Vec<_>>();
                let whole = matrix.clone().qr().q();
                assert_eq!(bits(&orthonormal(matrix, &|| Ok(())).unwrap()), bits(&whole), "{rows} x {columns}");
            }
        }
        let asked = std::cell::Cell::new(0);
        let go_on = || match asked.replace(asked.get() + 1) {
            12 => Err(dupsift_core::error::Error::Interrupted),
            _ => Ok(()),
        };
        let begun = orthonormal(DMatrix::from_fn(40, 9, entry), &go_on);
        assert!(matches!(begun, Err(dupsift_core::error::Error::Interrupted)) && asked.get() == 13);
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        // Two equal rows and a multiple of them span a single direction.
        let matrix = Dense(DMatrix::from_row_slice(3, 4, &[1., 2., 0., 2., 1., 2., 0., 2., 2., 4., 0., 4.]));
        let svd = truncated(&matrix, 3, 4, 1).unwrap();
        assert_eq!(svd.values.len(), 1);
        assert!((svd.values[0] - 54f64.sqrt()).abs() < 1e-9);
        assert!(truncated(&Dense(DMatrix::zeros(0, 5)), 3, 4, 1).unwrap().values.is_empty());
        assert!(truncated(&Dense(DMatrix::zeros(5, 0)), 3, 4, 1).unwrap().values.is_empty());
    }
}
