//! The one form of a path, and whether two of them overlap.

use proptest::prelude::*;

use super::*;

const ROOTS: [&str; 2] = ["/home/me/shop", "/data/worktrees/shop-TASK-001/"];

fn path(given: &str) -> ClaimPath {
    ClaimPath::parse(given, &ROOTS).unwrap_or_else(|error| panic!("{given}: {error}"))
}

#[test]
fn aliases_of_a_file_are_one_path() {
    let aliases = [
        "src/lib.rs",
        "./src/lib.rs",
        "src//lib.rs",
        "src/./lib.rs",
        "src/parser/../lib.rs",
        "Src/LIB.rs",
        "/home/me/shop/src/lib.rs",
        "/data/worktrees/shop-TASK-001/src/lib.rs",
        "/data/worktrees/shop-TASK-001/./docs/../src/lib.rs",
    ];
    for alias in aliases {
        assert_eq!(path(alias), path("src/lib.rs"), "{alias}");
        assert!(path(alias).overlaps(&path("src/lib.rs")), "{alias}");
    }
    assert_eq!(path("Straße.md"), path("straße.md"));
}

#[test]
fn paths_out_of_the_repository_are_refused() {
    let long = "a".repeat(MAX_BYTES + 1);
    let deep = "a/".repeat(MAX_NAMES + 1);
    let cases = [
        ("", "claim-path-empty"),
        ("  ", "claim-path-empty"),
        ("../../etc", "claim-outside"),
        ("src/../../etc/passwd", "claim-outside"),
        ("/etc/passwd", "claim-outside"),
        ("/home/me/shop-2/src/lib.rs", "claim-outside"),
        ("/home/me/shop/../other/lib.rs", "claim-outside"),
        (".", "claim-whole-repository"),
        ("/home/me/shop", "claim-whole-repository"),
        (".git/hooks/pre-commit", "claim-git-folder"),
        (".GIT/config", "claim-git-folder"),
        ("a\0b", "claim-path-text"),
        ("a\nb", "claim-path-text"),
        (&long, "claim-path-long"),
        (&deep, "claim-path-deep"),
    ];
    for (given, code) in cases {
        let refused = ClaimPath::parse(given, &ROOTS).map_err(|error| error.code());
        assert_eq!(refused, Err(code), "{given}");
    }
}

#[test]
fn overlapping_paths_share_a_file() {
    let overlapping = [
        ("src/lib.rs", "src/*.rs"),
        ("src/lib.rs", "src/"),
        ("src/lib.rs", "src"),
        ("src/*.rs", "src"),
        ("src/**", "src/a/b/c.rs"),
        ("**/*.rs", "src/a/*b.rs"),
        ("src/*/mod.rs", "src/a*/m?d.rs"),
        ("a/**/z", "a/z"),
        ("a/**/z", "**/b/**"),
    ];
    for (one, other) in overlapping {
        assert!(path(one).overlaps(&path(other)), "{one} and {other}");
    }
    let apart = [
        ("src/lib.rs", "src/lib.rs.bak"),
        ("src/*.rs", "src/*.md"),
        ("src/", "srcs/a"),
        ("a/*/c", "a/b/d"),
        ("src/a?.rs", "src/a.rs"),
        ("Cargo.toml", "**/*.md"),
        ("*", "src/lib.rs"),
    ];
    for (one, other) in apart {
        assert!(!path(one).overlaps(&path(other)), "{one} and {other}");
    }
}

#[test]
fn whole_repository_is_recognized() {
    for everything in ["**", "*", "**/*.rs", "*/src", "?*/**"] {
        assert!(path(everything).is_whole_repository(), "{everything}");
    }
    for part in ["src/**", "s*/a", "README.md", "a*"] {
        assert!(!path(part).is_whole_repository(), "{part}");
    }
}

/// Whether a claim is for a file, by the definition of its wildcards.
fn stands_for(glob: &[&str], given: &[&str]) -> bool {
    match (glob, given) {
        ([], []) => true,
        (["**", rest @ ..], _) => stands_for(rest, given) || (!given.is_empty() && stands_for(glob, &given[1..])),
        ([name, rest @ ..], [own, others @ ..]) => {
            let (name, own): (Vec<char>, Vec<char>) = (name.chars().collect(), own.chars().collect());
            is_named(&name, &own) && stands_for(rest, others)
        }
        _ => false,
    }
}

fn is_named(glob: &[char], name: &[char]) -> bool {
    match (glob, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => is_named(rest, name) || (!name.is_empty() && is_named(glob, &name[1..])),
        ([letter, rest @ ..], [own, others @ ..]) => (*letter == '?' || letter == own) && is_named(rest, others),
        _ => false,
    }
}

/// Every path of up to four names of up to two letters.
fn files() -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..4 {
        last = last.iter().flat_map(|path| ["a", "b", "ab", "ba", "aa", "bb"].map(|name| [path.as_slice(), &[name]].concat())).collect();
        all.extend(last.iter().cloned());
    }
    all.split_off(1)
}

proptest! {
    #[test]
    fn overlap_is_symmetric_and_reflexive(one in "[ab*?]{1,3}(/[ab*?]{1,3}){0,3}", other in "[ab*?]{1,3}(/[ab*?]{1,3}){0,3}") {
        let (one, other) = (path(&one), path(&other));
        prop_assert!(one.overlaps(&one));
        prop_assert_eq!(one.overlaps(&other), other.overlaps(&one));
    }

    /// Claims overlap if and only if they are for a common file, or one is a folder above the other.
    #[test]
    fn shared_file_is_an_overlap(one in "(a|b|ab|\\*|a\\*|\\?|\\*\\*)(/(a|b|\\*|b\\?|\\*\\*)){0,2}", other in "(a|b|ba|\\*|\\*b|\\?|\\*\\*)(/(a|b|\\*|\\*\\*)){0,2}") {
        let (one, other) = (path(&one), path(&other));
        let names = |path: &ClaimPath| path.key().split('/').map(str::to_owned).collect::<Vec<_>>();
        let (own, others) = (names(&one), names(&other));
        let (own, others): (Vec<&str>, Vec<&str>) = (own.iter().map(String::as_str).collect(), others.iter().map(String::as_str).collect());
        let is_shared = files().iter().any(|file| stands_for(&own, file) && stands_for(&others, file));
        let is_literal = |path: &ClaimPath| !path.is_glob();
        let leads = |short: &[&str], long: &[&str]| short.len() < long.len() && long.starts_with(short);
        let is_above = (is_literal(&one) && leads(&own, &others)) || (is_literal(&other) && leads(&others, &own));
        prop_assert_eq!(one.overlaps(&other), is_shared || is_above, "{} and {}", one, other);
    }

    #[test]
    fn parsing_never_panics_and_is_stable(given in ".{0,40}") {
        if let Ok(parsed) = ClaimPath::parse(&given, &ROOTS) {
            prop_assert_eq!(&ClaimPath::parse(parsed.as_str(), &[]).unwrap(), &parsed);
        }
    }
}

#[test]
fn claim_of_a_folder_or_a_glob_covers_what_is_in_it() {
    let covers = |own: &str, other: &str| path(own).covers(&path(other));
    for (own, other) in [
        ("src/a.rs", "SRC/A.rs"),
        ("src", "src/a/b.rs"),
        ("src/**", "src/a/b.rs"),
        ("src/", "src/a/"),
        ("src/", "SRC/*.rs"),
        ("*.md", "a.md"),
        ("src/**", "src/**"),
    ] {
        assert!(covers(own, other), "{own} covers {other}");
    }
    for (own, other) in
        [("src/a.rs", "src"), ("src/a/b.rs", "src/a"), ("src/a.rs", "src/*"), ("src/*", "src/a*"), ("src/a/", "src/"), ("src/", "src2/*"), ("a", "b")]
    {
        assert!(!covers(own, other), "{own} does not cover {other}");
    }
}

#[test]
fn files_and_folders_have_a_literal_name() {
    let literal = |given: &str| path(given).literal().map(str::to_owned);
    assert_eq!(literal("src/Lib.rs").as_deref(), Some("src/lib.rs"));
    assert_eq!(literal("src/net/").as_deref(), Some("src/net"));
    for pattern in ["src/*.rs", "src/**/a.rs", "src/a?/", "**/x", "*"] {
        assert_eq!(literal(pattern), None, "{pattern}");
    }
}
