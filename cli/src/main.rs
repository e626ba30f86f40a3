//! The `vibe-relay` program.

fn main() -> std::process::ExitCode {
    cli::main()
}
