//! The program: `dupsift::cli` as a process that ends with a number.

use std::process::ExitCode;

fn main() -> ExitCode {
    dupsift::allocator::set_up();
    dupsift::cli::program(std::env::args_os().collect()).into()
}
