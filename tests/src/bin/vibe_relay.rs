//! The product's program under a name of this crate, so that Cargo builds it for the tests and tells them where it is. It must add nothing.

fn main() -> std::process::ExitCode {
    cli::main()
}
