//! The files of the repository, as text. It must not judge them.

use std::path::{Path, PathBuf};

/// Folders that hold no sources.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];

/// One text file.
pub(crate) struct Source {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Whether the whole file is there for tests alone.
    pub(crate) fn is_test(&self) -> bool {
        let folder = self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.contains("/benches/");
        folder || self.path.ends_with("/tests.rs") || self.path.ends_with("/testing.rs")
    }

    /// The part that reaches the product: without the tests at its end.
    pub(crate) fn product(&self) -> &str {
        self.split().0
    }

    /// The tests at its end, or the whole of a file of tests.
    pub(crate) fn tests(&self) -> &str {
        if self.is_test() { &self.text } else { self.split().1 }
    }

    fn split(&self) -> (&str, &str) {
        self.text.split_at(self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len()))
    }

    /// The product's lines with `pattern`, each as `path:line: text`. Comments do not count.
    pub(crate) fn lines_with(&self, pattern: &str) -> Vec<String> {
        let lines = self.product().lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//") && line.contains(pattern));
        lines.map(|(number, line)| format!("{}:{}: {}", self.path, number + 1, line.trim())).collect()
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn read(path: &str) -> String {
    let whole = root().join(path);
    std::fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{}: {error}", whole.display()))
}

/// Every text file.
pub(crate) fn files() -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// Every Rust file.
pub(crate) fn rust() -> Vec<Source> {
    let rust: Vec<Source> = files().into_iter().filter(|file| file.path.ends_with(".rs")).collect();
    assert!(rust.len() > 100, "the sources were not found: {}", rust.len());
    rust
}

/// Every Rust file whose code reaches the product.
pub(crate) fn product() -> Vec<Source> {
    rust().into_iter().filter(|file| !file.is_test()).collect()
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(&path, found);
            }
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            // Binary files are skipped, and a file may be deleted while others are read.
            found.push(Source { path: path.strip_prefix(root()).unwrap().to_string_lossy().into_owned(), text });
        }
    }
}

/// Fails with all findings at once.
pub(crate) fn none(rule: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}
