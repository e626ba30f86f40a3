//! The real `claude` program, as tests start it: where it is, and the environment in which it talks to the scripted model alone. It must
//! not know what a test does with it.

use std::path::{Path, PathBuf};

/// The version that the tests were written against.
pub const VERSION: &str = "2.1.330";

/// The program was found nowhere.
#[derive(Debug, thiserror::Error)]
#[error(
    "claude {VERSION} was not found in CLAUDE_BIN, target/tools/claude or PATH: run `npm install --prefix target/tools/claude \
     @anthropic-ai/claude-code@{VERSION}`"
)]
pub struct NotFound;

/// Finds the program: `CLAUDE_BIN`, then the copy below `target/tools`, then `PATH`.
///
/// # Errors
/// It is in none of them; the error says how to install it.
pub fn find() -> Result<PathBuf, NotFound> {
    let named = std::env::var_os("CLAUDE_BIN").map(PathBuf::from);
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/claude/node_modules/.bin/claude");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("claude"));
    named.into_iter().chain([installed]).chain(on_path).find(|candidate| candidate.is_file()).ok_or(NotFound)
}

/// The variables with which the program reaches nothing but `base_url`, keeps everything below `config_dir`, and inherits neither the
/// person's sign-in nor the marks of a session in which the tests may run.
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
        // Without it root may not skip permissions; tests often run as root in a container.
        ("IS_SANDBOX", "1"),
    ];
    inherited.chain(own.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}
