//! The modules that an import names, from the text of its statement. Must not know syntax trees.

/// `use crate::board::card::Card;` names `crate::board`, and `use serde::Serialize;` names `serde`.
pub(super) fn rust(text: &str) -> Vec<String> {
    let Some(path) = text.split_once("use ").map(|(_, path)| path.trim_start_matches("::")) else { return Vec::new() };
    let end = path.find(['{', ';', ' ', '*']).unwrap_or(path.len());
    let mut names = path[..end].split("::").filter(|name| !name.is_empty());
    let module = match (names.next(), names.next()) {
        (Some("std" | "core" | "alloc"), _) => None,
        (Some(inside @ ("crate" | "super" | "self")), Some(next)) => Some(format!("{inside}::{next}")),
        (first, _) => first.map(str::to_owned),
    };
    module.into_iter().collect()
}

/// `from app.board import card` names `app.board`, and `import os, sys as s` names both.
pub(super) fn python(text: &str) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().next().map(str::to_owned);
    match text.strip_prefix("from ") {
        Some(rest) => words(rest).into_iter().collect(),
        None => text.trim_start_matches("import ").split(',').filter_map(words).collect(),
    }
}

/// The last string: `import a from "./a"`.
pub(super) fn script(text: &str) -> Vec<String> {
    quoted(text).pop().into_iter().collect()
}

/// Every string: `import ("fmt"; "os")`.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(['"', '\'', '`']) {
        let inside = &rest[begin + 1..];
        let Some(end) = inside.find(&rest[begin..=begin]) else { break };
        found.push(inside[..end].to_owned());
        rest = &inside[end + 1..];
    }
    found
}

/// `import static a.b.C.d;` names the package `a.b.C`.
pub(super) fn java(text: &str) -> Vec<String> {
    let name = text.trim_start_matches("import ").trim_start_matches("static ").trim_end_matches(';').trim();
    name.rsplit_once('.').map(|(package, _)| package.to_owned()).into_iter().collect()
}

/// `#include <a/b.h>` names `a/b.h`.
pub(super) fn include(text: &str) -> Vec<String> {
    let name = text.split_once("include").map_or("", |(_, name)| name).lines().next().unwrap_or_default().trim();
    let name = name.trim_matches(['<', '>', '"']);
    Some(name).filter(|name| !name.is_empty()).map(str::to_owned).into_iter().collect()
}

/// `using X = A.B;` names `A.B`.
pub(super) fn c_sharp(text: &str) -> Vec<String> {
    let name = text.trim_end_matches(';').rsplit([' ', '=']).next().unwrap_or_default();
    Some(name).filter(|name| !name.is_empty()).map(str::to_owned).into_iter().collect()
}

/// `use A\B\C, D\E;` names `A\B` and `D`, and `use A\B\{C, D};` names `A\B`.
pub(super) fn php(text: &str) -> Vec<String> {
    let text = text.trim_start_matches("use ").trim_end_matches(';');
    if let Some((namespace, _)) = text.split_once('{') {
        return vec![namespace.trim().trim_end_matches('\\').to_owned()];
    }
    let namespace = |name: &str| {
        let name = name.split_once(" as ").map_or(name, |(name, _)| name).trim();
        name.rsplit_once('\\').map_or(name, |(namespace, _)| namespace).to_owned()
    };
    text.split(',').map(namespace).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Modules = fn(&str) -> Vec<String>;

    #[test]
    fn imports_name_modules() {
        let cases: [(Modules, &str, &[&str]); 18] = [
            (rust, "pub use crate::board::{card, task};", &["crate::board"]),
            (rust, "use super::*;", &["super"]),
            (rust, "use ::serde::Serialize;", &["serde"]),
            (rust, "use std::io;", &[]),
            (python, "import os, sys as s", &["os", "sys"]),
            (python, "from . import a", &["."]),
            (python, "from a.b import (c, d)", &["a.b"]),
            (script, "import x, { 'y' as z } from \"./a\";", &["./a"]),
            (script, "export * from './b'", &["./b"]),
            (script, "import", &[]),
            (quoted, "import (\"fmt\"; x \"os/exec\")", &["fmt", "os/exec"]),
            (quoted, "import \"unfinished", &[]),
            (java, "import static a.b.C.d;", &["a.b.C"]),
            (include, "#  include <a/b.h>\n", &["a/b.h"]),
            (include, "#include", &[]),
            (c_sharp, "using X = A.B;", &["A.B"]),
            (php, "use A\\B\\C as D, E\\F;", &["A\\B", "E"]),
            (php, "use A\\B\\{C, D};", &["A\\B"]),
        ];
        for (modules, text, expected) in cases {
            assert_eq!(modules(text), expected, "{text}");
        }
    }
}
