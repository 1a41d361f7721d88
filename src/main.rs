//! Runs `dupsift::cli` as a process and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    dupsift_core::allocator::set_up();
    dupsift::cli::program(std::env::args_os().collect()).into()
}
