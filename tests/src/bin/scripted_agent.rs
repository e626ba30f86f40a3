//! The scripted agent as a separate program, which tests can start without the whole product. It must not do anything else.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    cli::scripted::agent::run(&arguments).await.into()
}
