//! Finds the real `claude` program and builds an environment in which it reaches only the scripted model. It must not know what a test does
//! with it.

use std::path::{Path, PathBuf};

/// The version that the tests are written for.
pub const VERSION: &str = "2.1.330";

/// The program is not installed.
#[derive(Debug, thiserror::Error)]
#[error(
    "claude {VERSION} was not found in CLAUDE_BIN, target/tools/claude or PATH: run `npm install --prefix target/tools/claude \
     @anthropic-ai/claude-code@{VERSION}`"
)]
pub struct NotFound;

/// Finds the program in `CLAUDE_BIN`, in `target/tools` or in `PATH`, in this order.
///
/// # Errors
/// The program is in none of them. The error says how to install it.
pub fn find() -> Result<PathBuf, NotFound> {
    let named = std::env::var_os("CLAUDE_BIN").map(PathBuf::from);
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/claude/node_modules/.bin/claude");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("claude"));
    named.into_iter().chain([installed]).chain(on_path).find(|candidate| candidate.is_file()).ok_or(NotFound)
}

/// Environment variables that limit the program to `base_url` and `config_dir`. They exclude the user's sign-in and the variables of a
/// session in which the tests may run.
pub fn environment(config_dir: &Path, base_url: &str) -> Vec<(String, String)> {
    let inherited = ["PATH", "LANG", "TZ", "TMPDIR"].into_iter().filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
    let config_dir = config_dir.display().to_string();
    let own = [
        ("HOME", config_dir.as_str()),
        ("CLAUDE_CONFIG_DIR", config_dir.as_str()),
        ("ANTHROPIC_BASE_URL", base_url),
        ("ANTHROPIC_API_KEY", "scripted"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "3"),
        // Without this variable, root cannot skip permissions, and tests often run as root in a container.
        ("IS_SANDBOX", "1"),
    ];
    inherited.chain(own.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}
