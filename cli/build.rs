//! Tells the program which commit it is built from, where git knows it. A source archive has none.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Git moves it at each commit and checkout of the repository that holds this file.
    for file in ["HEAD", "logs/HEAD"] {
        // For a file that does not exist, cargo would run this at every build.
        if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["show", "--no-patch", "--format=%h of %cs", "HEAD"]).unwrap_or_else(|| "unknown commit".to_owned());
    println!("cargo::rustc-env=VIBE_RELAY_COMMIT={commit}");
}

/// The output of git, or none where it fails.
fn git(arguments: &[&str]) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a build script has no runner")]
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
