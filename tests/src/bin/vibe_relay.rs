//! The product's program as a binary of this crate, because Cargo then builds it for the tests and provides its path. It must add nothing.

fn main() -> std::process::ExitCode {
    cli::main()
}
