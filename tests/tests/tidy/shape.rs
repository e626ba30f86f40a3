//! Rules on the form of every file. It must know no crate by name.

use crate::source::{files, none, read, root, rust};

const MOST_LINES: usize = 400;

#[test]
fn every_file_opens_with_what_it_is_for() {
    let silent = rust().into_iter().filter(|file| !file.text.starts_with("//! "));
    none("a file begins with `//!`: what it is for, and what it must not know", silent.map(|file| file.path).collect());
}

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    let long = rust().into_iter().map(|file| (file.text.lines().count(), file.path)).filter(|(lines, _)| *lines > MOST_LINES);
    none("a file has at most 400 lines; split it by what its parts are for", long.map(|(lines, path)| format!("{path}: {lines}")).collect());
}

#[test]
fn every_crate_obeys_the_lints_of_the_workspace() {
    let manifests = files().into_iter().filter(|file| file.path.ends_with("/Cargo.toml"));
    let free = manifests.filter(|file| !file.text.contains("[lints]\nworkspace = true\n"));
    none("a crate opts into the workspace's lints", free.map(|file| file.path).collect());
}

/// `allow` stays when its reason is gone; `expect` is reported then.
#[test]
fn lints_are_expected_and_not_allowed() {
    let patterns = [concat!("#[al", "low("), concat!("#![al", "low(")];
    let allowed = rust().into_iter().flat_map(|file| patterns.map(|pattern| file.lines_with(pattern)).concat());
    none("write `#[expect(lint, reason = \"…\")]`", allowed.collect());
}

#[test]
fn no_test_is_switched_off() {
    let pattern = concat!("#[ig", "nore");
    let ignored = rust().into_iter().filter(|file| file.text.contains(pattern));
    none("a test runs or goes", ignored.map(|file| file.path).collect());
}

/// Facts of one machine do not hold on the reader's.
#[test]
fn nothing_names_a_machine() {
    let machines = ["root", "work", "farm"].map(|folder| format!("/{folder}/"));
    let begins = |line: &str, at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || "}-_.".contains(before));
    let mut found = Vec::new();
    for file in files() {
        for (number, line) in file.text.lines().enumerate() {
            let named = machines.iter().any(|machine| line.match_indices(machine.as_str()).any(|(at, _)| begins(line, at)));
            if named || line.contains(concat!("../sha", "red")) || line.contains(concat!("DESIGN", ".md")) {
                found.push(format!("{}:{}", file.path, number + 1));
            }
        }
    }
    none("the repository names no folder of a machine and nothing outside of itself", found);
}

#[test]
fn the_licences_are_there() {
    assert!(root().join("LICENSE-MIT").is_file() && root().join("LICENSE-APACHE").is_file());
    assert!(read("Cargo.toml").contains("license = \"MIT OR Apache-2.0\""));
}
