//! Proves from the paths in each file's code that the files of a crate have no dependency cycle, and that the files of db depend on lower
//! layers only. Must not know what the files do.
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

/// Expands a path with nested braces into one path for each leaf, without aliases: `a::{b as x, c::d}` becomes `a::b` and `a::c::d`.
fn expand(path: &str) -> Vec<String> {
    let Some((prefix, rest)) = path.split_once('{') else {
        let path = path.split_once(" as ").map_or(path, |(path, _)| path);
        return vec![path.trim().to_owned()];
    };
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

/// Fails if the files below `folder` have a dependency cycle. `least` is a lower bound of files and dependencies, to notice unread sources.
fn require_no_cycle(folder: &str, least: (usize, usize)) -> String {
    let graph = graph(folder, &product());
    let edges: usize = graph.values().map(BTreeSet::len).sum();
    assert!(graph.len() > least.0 && edges > least.1, "the sources were not read: {} files, {edges} dependencies", graph.len());
    let cycles = cycles(&graph);
    let summary = format!("{folder}: {} files, {edges} dependencies, {} cycles", graph.len(), cycles.len());
    none("these files depend on each other", cycles);
    summary
}

#[test]
fn files_of_domain_have_no_dependency_cycle() {
    println!("{}", require_no_cycle("domain/src/", (30, 100)));
}

#[test]
fn files_of_db_have_no_dependency_cycle() {
    println!("{}", require_no_cycle("db/src/", (60, 300)));
}

/// The layers of db, from the lowest. A file depends on its own layer and on lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Engine,
    Row,
    Write,
    Consequence,
    UseCase,
}

/// Nouns of db that are writes as a whole, because other nouns use them and they have no consequences.
const WHOLE_WRITES: [[&str; 2]; 3] = [["team", "message"], ["team", "token"], ["team", "browser_session"]];

/// Returns the layer that the path of a module of db names.
fn layer(module: &str) -> Layer {
    let segments: Vec<&str> = module.split("::").collect();
    match segments[0] {
        "engine" | "caller" | "error" => Layer::Engine,
        "consequences" => Layer::Consequence,
        _ if WHOLE_WRITES.iter().any(|noun| segments.starts_with(noun)) => Layer::Write,
        _ if segments.contains(&"row") => Layer::Row,
        _ if segments.contains(&"write") => Layer::Write,
        _ => Layer::UseCase,
    }
}

/// Returns the dependencies on a higher layer, and those between use cases of different nouns.
fn layer_violations(graph: &Graph) -> Vec<String> {
    let noun = |module: &str| module.split("::").take(2).map(str::to_owned).collect::<Vec<_>>();
    let is_wrong = |from: &str, to: &str| match (layer(from), layer(to)) {
        (Layer::UseCase, Layer::UseCase) => noun(from) != noun(to),
        (from, to) => to > from,
    };
    let edges = graph.iter().filter(|(from, _)| !from.is_empty()).flat_map(|(from, targets)| targets.iter().map(move |to| (from, to)));
    edges.filter(|(from, to)| is_wrong(from, to)).map(|(from, to)| format!("{from} ({:?}) → {to} ({:?})", layer(from), layer(to))).collect()
}

#[test]
fn files_of_db_depend_on_lower_layers_only() {
    let graph = graph("db/src/", &product());
    let mut sizes = BTreeMap::new();
    for module in graph.keys().filter(|module| !module.is_empty()) {
        *sizes.entry(layer(module)).or_insert(0) += 1;
    }
    assert!(sizes.len() == 5 && sizes.values().all(|size| *size > 4), "a layer is missing: {sizes:?}");
    none("a file of db depends on a higher layer, or on a use case of another noun", layer_violations(&graph));
}

#[test]
fn engine_of_db_names_no_noun() {
    let engine: Vec<Source> = product().into_iter().filter(|file| file.path.starts_with("db/src/engine/")).collect();
    assert!(engine.len() > 10, "the engine was not read");
    let nouns = ["domain::board", "domain::context", "domain::runs", "domain::team", "domain::warroom"];
    none("the engine knows no noun", nouns.iter().flat_map(|noun| engine.iter().flat_map(|file| file.lines_with(noun))).collect());
}

#[test]
fn rows_of_db_write_nothing() {
    let rows = |file: &Source| module("db/src/", file).is_some_and(|module| !module.is_empty() && layer(&module) == Layer::Row);
    let rows: Vec<Source> = product().into_iter().filter(rows).collect();
    let writes = ["INSERT INTO", "UPDATE ", "DELETE FROM", ".record_for_", ".record_without_card("];
    none("a row file only reads", writes.iter().flat_map(|word| rows.iter().flat_map(|file| file.lines_with(word))).collect());
}

#[test]
fn wrong_layers_are_found() {
    let violations = |from: &str, to: &str| layer_violations(&Graph::from([(from.to_owned(), BTreeSet::from([to.to_owned()]))])).len();
    for (from, to) in [
        ("engine::tx", "board::task::row"),
        ("caller", "team::token"),
        ("board::task::row::mover", "team::hat::write"),
        ("team::message::delivery", "consequences::task_changed"),
        ("consequences::agent_left", "team::agent"),
        ("board::plan", "board::task::moves"),
        ("retention", "runs::run"),
    ] {
        assert_eq!((violations(from, to), violations(to, from)), (1, usize::from(layer(from) == layer(to))), "{from} → {to}");
    }
    assert_eq!(violations("board::task::gate::review", "board::task::gate"), 0);
    assert_eq!(violations("board::plan", "consequences::task_moved"), 0);
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
    for path in [
        "use crate::board::task::Task;",
        "use crate::board::task as tasks;",
        "use super::task::Task;",
        "fn f(_: crate::board::task::Task) {}",
        "use super::{\n    task::Task,\n};",
    ] {
        assert_eq!(crate_of(path), ["board::card ↔ board::task"], "{path}");
    }
}
