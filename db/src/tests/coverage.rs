//! Checks that a test calls every public function, because SQL is checked only when it runs.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Returns the name of the public function that starts on `line`.
fn public_function(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

#[test]
fn every_public_function_is_called_by_a_test() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let (tests, sources): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| path.components().any(|part| part.as_os_str() == "tests"));
    let tests: String = tests.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let mut names = Vec::new();
    for path in sources {
        let text = std::fs::read_to_string(path).unwrap();
        names.extend(text.lines().filter_map(public_function).map(str::to_owned));
    }
    assert!(names.len() > 50, "the sources were not read: {names:?}");
    let missing: Vec<&String> = names.iter().filter(|name| !tests.contains(&format!("{name}("))).collect();
    assert!(missing.is_empty(), "no test calls {missing:?}");
}
