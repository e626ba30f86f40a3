//! Runs a nested cargo that compiles `ui` for wasm32 in a separate target directory. Must not know what the result is for.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolchain::TARGET;

/// How many lines of a failed build's output are repeated, because cargo hides the output of a failing build script.
const TAIL_LINES: usize = 60;

/// Settings of the outer build that would change the nested one or make it wait for the outer one's lock. The others are
/// inherited, in particular `CARGO_HOME` and `CARGO_MAKEFLAGS` (the job server).
const OUTER_SETTINGS: [&str; 8] = [
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
];

/// Builds the board and returns the path of its wasm file.
///
/// # Errors
/// When cargo cannot be started or the build fails; the message ends with the last lines of cargo's output.
pub(crate) fn wasm(workspace: &Path, target_dir: &Path, release: bool) -> Result<PathBuf, Box<dyn Error>> {
    let profile = if release { "wasm" } else { "wasm-dev" };
    #[expect(clippy::disallowed_methods, reason = "a build script starts cargo; the rule is about the running product")]
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo
        .current_dir(workspace)
        .args(["build", "--locked", "--package", "ui", "--bin", "board", "--target", TARGET, "--profile", profile])
        .arg("--target-dir")
        .arg(target_dir);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if OUTER_SETTINGS.contains(&&*name) || name.starts_with("CARGO_PROFILE_") || name.starts_with("CARGO_FEATURE_") {
            cargo.env_remove(&*name);
        }
    }
    let output = cargo.output().map_err(|error| format!("starting cargo to build the board: {error}"))?;
    if output.status.success() {
        return Ok(target_dir.join(TARGET).join(profile).join("board.wasm"));
    }
    Err(explain(&String::from_utf8_lossy(&output.stderr), profile).into())
}

fn explain(stderr: &str, profile: &str) -> String {
    let lines: Vec<&str> = stderr.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
    format!("building the board (package `ui`, {TARGET}, profile `{profile}`) failed:\n{tail}")
}
