//! Compares the operations that the hostile suite calls with the public functions of this crate, so that a new one cannot be forgotten.

use std::fs;
use std::path::{Path, PathBuf};

/// Public functions that read nothing of a repository.
const OF_NO_REPOSITORY: [&str; 18] = [
    // The words and kinds of errors.
    "code",
    "hint",
    "is_of_machine",
    "is_outage",
    // The queue of a repository, and the rule of one writer.
    "exclusive",
    "in_lane",
    "not_responding",
    "try_again",
    // The function that runs git for the operations, which are all called with one.
    "use_git",
    // Texts, names and files of the board itself.
    "code_spans",
    "limit_memory",
    "load_syntaxes",
    "require_writable",
    "return_freed_memory",
    "unsigned",
    "upstream_reference",
    "user_name",
    "view",
];
/// Public functions that only name a place.
const PLACES: [&str; 2] = ["folder", "file"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_for_tests = path.file_stem().is_some_and(|name| name == "tests" || name == "testing" || name == "hostile");
        if path.is_dir() && !is_for_tests {
            sources(&path, found);
        } else if !path.is_dir() && !is_for_tests {
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
fn every_operation_on_a_repository_is_called() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut names = Vec::new();
    for file in files {
        names.extend(fs::read_to_string(file).unwrap().lines().filter_map(public_function).map(str::to_owned));
    }
    assert!(names.len() > 100, "the sources were not read: {names:?}");
    let is_called = |name: &str| include_str!("operations.rs").contains(&format!("{name}("));
    let of_none = |name: &str| OF_NO_REPOSITORY.contains(&name) || PLACES.contains(&name);
    let missing: Vec<&String> = names.iter().filter(|name| !of_none(name) && !is_called(name)).collect();
    assert!(missing.is_empty(), "no hostile repository meets {missing:?}: call them in operations.rs");
    let outdated: Vec<&&str> = OF_NO_REPOSITORY.iter().chain(&PLACES).filter(|name| !names.iter().any(|known| known == **name)).collect();
    assert!(outdated.is_empty(), "{outdated:?} do not exist");
}
