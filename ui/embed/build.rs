//! Builds the board into the binary: compiles `ui` for wasm32, bundles it under hashed names, and writes the table that
//! `src/lib.rs` includes.
//!
//! Needs only cargo and the wasm target. `VIBE_RELAY_UI=skip` builds a placeholder page instead, for editors and lint jobs.
//! Must not know what the board does or how it is served.

#[path = "build/bundle.rs"]
mod bundle;
#[path = "build/compile.rs"]
mod compile;
#[path = "build/names.rs"]
mod names;
#[path = "build/split.rs"]
mod split;

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The sources of the board, relative to the workspace.
const SOURCES: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "domain/Cargo.toml",
    "domain/src",
    "ui/Cargo.toml",
    "ui/boot.js",
    "ui/index.html",
    "ui/manifest.webmanifest",
    "ui/src",
    "ui/style",
];

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
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let workspace = manifest.join("../..").canonicalize()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);

    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed=VIBE_RELAY_UI");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }

    let files = match env::var("VIBE_RELAY_UI").as_deref() {
        Ok("skip") => vec![bundle::placeholder()],
        Ok(other) => {
            return Err(format!("VIBE_RELAY_UI is {other:?}, but the only valid value is `skip`; unset it to build the board").into());
        }
        Err(_) => {
            let release = env::var("PROFILE")? == "release";
            let wasm = compile::wasm(&workspace, &board_target(&out), release)?;
            bundle::board(&workspace.join("ui"), &wasm, &out.join("split"), release)?
        }
    };
    bundle::write(&out, &files)?;
    Ok(())
}

/// The target directory of the nested build, below the outer one. It must be separate, because the outer cargo locks its own
/// while this script runs.
fn board_target(out: &Path) -> PathBuf {
    let outer = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    outer.unwrap_or(out).join("board")
}
