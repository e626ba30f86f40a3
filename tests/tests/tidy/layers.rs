//! Proves from the paths in each file's code that the files of a crate have no dependency cycle. Must not know what the files do.
//!
//! A file depends on the files that it names with `crate::`, `self::`, `super::` or the name of a child module. Declaring a child with
//! `mod` is not a dependency, and tests are ignored.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::source::{Source, none, product};

/// The files that each module of a crate depends on, by module path: `board::card`. The crate root is the empty path.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The module path of a file below `folder`.
fn module(folder: &str, file: &Source) -> Option<String> {
    let path = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
    Some(if path == "lib" { String::new() } else { path.replace('/', "::") })
}

/// The code of a file without its tests and its comments.
fn code(file: &Source) -> String {
    file.product().lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn join(parent: &str, child: &str) -> String {
    if parent.is_empty() { child.to_owned() } else { format!("{parent}::{child}") }
}

/// Expands a path with nested braces into one path for each leaf: `a::{b, c::d}` becomes `a::b` and `a::c::d`.
fn expand(path: &str) -> Vec<String> {
    let Some((prefix, rest)) = path.split_once('{') else { return vec![path.trim().to_owned()] };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (place, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).flat_map(expand).map(|leaf| format!("{}{leaf}", prefix.trim())).collect()
}

/// Returns the paths that `code`, the code of `module`, names below the crate root. `use` lines and inline paths both count.
fn paths(module: &str, code: &str) -> Vec<String> {
    // `use a::{b, c};` with its braces, or a plain path of two or more segments.
    let pattern = Regex::new(r"(?m)^\s*(?:pub(?:\([a-z]+\))?\s+)?use\s+([^;]+);|\b([a-z_][a-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)+)").unwrap();
    let named = pattern.captures_iter(code).filter_map(|found| found.get(1).or_else(|| found.get(2)));
    let leaves = named.flat_map(|path| expand(path.as_str()));
    let absolute = |path: String| {
        let mut base = module.to_owned();
        let mut rest = path.as_str();
        if let Some(below) = rest.strip_prefix("crate::") {
            return below.to_owned();
        }
        rest = rest.strip_prefix("self::").unwrap_or(rest);
        while let Some(below) = rest.strip_prefix("super::") {
            base = base.rsplit_once("::").map_or(String::new(), |(parent, _)| parent.to_owned());
            rest = below;
        }
        join(&base, rest)
    };
    leaves.map(absolute).collect()
}

/// Returns the longest module of the crate that is a prefix of `path`. The root is never a match.
fn target<'a>(modules: &BTreeSet<&'a str>, path: &str) -> Option<&'a str> {
    let ends = path.match_indices("::").map(|(place, _)| place).chain([path.len()]).collect::<Vec<_>>();
    ends.into_iter().rev().find_map(|end| modules.get(&path[..end]).copied())
}

fn graph(folder: &str, files: &[Source]) -> Graph {
    let files: Vec<(String, &Source)> = files.iter().filter_map(|file| Some((module(folder, file)?, file))).collect();
    let modules: BTreeSet<&str> = files.iter().map(|(module, _)| module.as_str()).filter(|module| !module.is_empty()).collect();
    let edges = |module: &str, file: &Source| {
        let named = paths(module, &code(file));
        named.iter().filter_map(|path| target(&modules, path)).filter(|found| *found != module).map(str::to_owned).collect()
    };
    files.iter().map(|(module, file)| (module.clone(), edges(module, file))).collect()
}

/// Returns every module that `from` depends on, directly or not.
fn reachable<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = graph.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(graph.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    found
}

/// Returns the groups of modules that depend on each other.
fn cycles(graph: &Graph) -> Vec<String> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|module| (module.as_str(), reachable(graph, module))).collect();
    let group = |module: &str| -> Vec<&str> { reach[module].iter().copied().filter(|other| reach[other].contains(module)).collect() };
    let groups: BTreeSet<Vec<&str>> = reach.keys().map(|module| group(module)).filter(|group| !group.is_empty()).collect();
    groups.into_iter().map(|group| group.join(" ↔ ")).collect()
}

#[test]
fn files_of_domain_have_no_dependency_cycle() {
    let graph = graph("domain/src/", &product());
    let edges: usize = graph.values().map(BTreeSet::len).sum();
    assert!(graph.len() > 30 && edges > 100, "the sources were not read: {} files, {edges} dependencies", graph.len());
    let cycles = cycles(&graph);
    println!("domain: {} files, {edges} dependencies, {} cycles", graph.len(), cycles.len());
    none("these files depend on each other", cycles);
}

#[test]
fn cycles_are_found_through_every_form_of_path() {
    let file = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let crate_of = |card: &str| {
        let board = file("x/src/board.rs", "pub mod card;\npub mod task;\n");
        let task = file("x/src/board/task.rs", "use std::fmt;\nuse crate::{id::TaskId, board::{card::Card}};\n");
        cycles(&graph("x/src/", &[board, task, file("x/src/id.rs", "pub struct TaskId;"), file("x/src/board/card.rs", card)]))
    };
    assert_eq!(crate_of("use crate::id::TaskId;\n// crate::board::task\n"), [""; 0]);
    assert_eq!(crate_of("#[cfg(test)]\nmod tests {\n    use crate::board::task::Task;\n}\n"), [""; 0]);
    for path in
        ["use crate::board::task::Task;", "use super::task::Task;", "fn f(_: crate::board::task::Task) {}", "use super::{\n    task::Task,\n};"]
    {
        assert_eq!(crate_of(path), ["board::card ↔ board::task"], "{path}");
    }
}
