//! Makes sure that the toolchain can compile for the browser: adds the wasm target with rustup, or says what is missing.

#[path = "src/lib.rs"]
pub mod board;

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use board::TARGET;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=VIBE_RELAY_UI");
    println!("cargo::rerun-if-env-changed=RUSTUP_TOOLCHAIN");
    if env::var_os("VIBE_RELAY_UI").is_some() {
        // The build script of `embed` checks the value; the board is not compiled.
        return Ok(());
    }
    let library = library_folder()?;
    // Cargo runs this script again if the target is removed.
    println!("cargo::rerun-if-changed={}", library.display());
    if !has_target(&library) {
        add_target().map_err(|reason| missing(&reason))?;
        if !has_target(&library) {
            return Err(missing(&format!("rustup reported success, but {} has no standard library", library.display())).into());
        }
        println!("cargo::warning=rustup added the target {TARGET}, which the board is compiled for");
    }
    Ok(())
}

/// Returns the folder of the target's standard library, which exists only if the target is installed.
fn library_folder() -> Result<PathBuf, Box<dyn Error>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = execute(&rustc, &["--print", "target-libdir", "--target", TARGET])?;
    if !output.status.success() {
        return Err(format!("rustc does not know the target {TARGET}:\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}

fn has_target(library: &Path) -> bool {
    let files = library.read_dir().into_iter().flatten().flatten();
    files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("libstd"))
}

/// Adds the target to the toolchain in use. The error is the reason why that is not possible.
fn add_target() -> Result<(), String> {
    // Set by rustup's own `cargo`. Without it the compiler comes from elsewhere, and rustup would change another toolchain.
    let toolchain = env::var_os("RUSTUP_TOOLCHAIN").ok_or("this Rust toolchain was not started by rustup")?;
    let rustup = OsString::from("rustup");
    let output = execute(&rustup, &["target", "add", "--toolchain", &toolchain.to_string_lossy(), TARGET])?;
    if output.status.success() { Ok(()) } else { Err(format!("rustup could not add it:\n{}", String::from_utf8_lossy(&output.stderr).trim())) }
}

fn missing(reason: &str) -> String {
    format!(
        "the board is compiled for the browser, but this toolchain lacks the target {TARGET}: {reason}\n\
         Run `rustup target add {TARGET}`, or install that target as you installed Rust, and build again.\n\
         Set VIBE_RELAY_UI=skip to build without the board."
    )
}

fn execute(program: &OsString, arguments: &[&str]) -> Result<Output, String> {
    #[expect(clippy::disallowed_methods, reason = "a build script starts the toolchain; the rule is about the running product")]
    let mut command = Command::new(program);
    // A backtrace of rustup would hide its message.
    command
        .args(arguments)
        .env_remove("RUST_BACKTRACE")
        .output()
        .map_err(|error| format!("{} could not be started: {error}", program.to_string_lossy()))
}
