//! Which paths the globs of a configuration protect, and how a card names them.

use super::*;
use crate::config::Config;

fn protected<'a>(globs: &[&str], paths: &[&'a str]) -> Vec<&'a str> {
    let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
    paths.iter().copied().filter(|path| is_protected(path, &globs)).collect()
}

#[test]
fn defaults_protect_instructions_and_workflows() {
    let paths = [
        "CLAUDE.md",
        "CLAUDE.md/inside",
        "api/CLAUDE.md",
        "Agents.md",
        "a/b/c/AGENTS.md",
        ".claude",
        ".claude/settings.json",
        ".claude/agents/one.md",
        ".github",
        ".github/workflows",
        ".github/workflows/ci.yml",
        ".github/workflows/deep/ci.yml",
    ];
    let globs = Config::default().protected_paths;
    let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
    assert_eq!(protected(&globs, &paths), paths);
    let others = ["MY-CLAUDE.md", "CLAUDE.md.txt", "docs/.claude/x", ".github/dependabot.yml", "x/.github/workflows/ci.yml", "a"];
    assert_eq!(protected(&globs, &others), [""; 0]);
}

#[test]
fn globs_match_whole_paths() {
    let paths = ["a", "b.rs", "src/b.rs", "src/x/b.rs", "src/x/y/c.rs", "migrations/1.sql"];
    for (glob, matched) in [
        ("*", &paths[..]),
        ("*.rs", &paths[1..5]),
        ("src/*.rs", &paths[2..3]),
        ("src/**", &paths[2..5]),
        ("src/**/*.rs", &paths[2..5]),
        ("**/x/**", &paths[3..5]),
        ("src/*/y/**", &paths[4..5]),
        ("migrations/?.sql", &paths[5..]),
        ("migrations", &paths[5..]),
        ("src/x", &paths[3..5]),
        ("?/x", &[]),
        ("a/x", &paths[..1]),
    ] {
        assert_eq!(protected(&[glob], &paths), matched, "{glob}");
    }
    assert_eq!(protected(&["**/a*a*a/**/b"], &["x/aaXaa/y/z/b", "x/aXa/b", "x/aaa/bc"]), ["x/aaXaa/y/z/b"]);
}

#[test]
fn globs_that_match_nothing_are_rejected() {
    assert_eq!(Config::default().protected_paths.iter().filter_map(|glob| problem(glob)).count(), 0);
    for glob in ["", "/CLAUDE.md", "a//b", "./a", "a/../b", "a/"] {
        assert!(problem(glob).is_some(), "{glob}");
    }
}

#[test]
fn card_names_a_few_paths_once() {
    let globs = ["*.md".to_owned()];
    let among = |paths: &[&str]| ProtectedChange::find(paths.iter().map(|path| (*path).to_owned()), &globs);
    assert_eq!(among(&["a.rs"]), None);
    let two = among(&["b.md", "a.md", "a.md", "a.rs"]).unwrap();
    assert_eq!((two.named().as_str(), two.total), ("a.md, b.md", 2));
    let many: Vec<String> = (0..9).map(|number| format!("{number}{}.md", "x".repeat(200))).collect();
    let many = among(&many.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert_eq!((many.paths.len(), many.total), (5, 9));
    assert!(many.named().ends_with("… and 4 more"), "{}", many.named());
    assert!(many.named().chars().count() < 450);
}
