//! Names and paths of zones, and the zone of a path.

use super::code_owners::code_owners;
use super::lookup::{first_outside, zone_of, zones_of};
use super::name::validate_name;
use super::*;

fn zone(name: &str, paths: &[&str]) -> Zone {
    Zone {
        project_id: ProjectId::new(1),
        name: name.to_owned(),
        paths: paths.iter().map(|path| path.parse().unwrap()).collect(),
        owner: None,
        oracle: None,
        author: "human".to_owned(),
        set_at: "2026-01-31T09:05:00.000Z".parse().unwrap(),
    }
}

#[test]
fn names_are_words() {
    for name in ["audio", "api-v2", "a_b"] {
        assert!(validate_name(name).is_ok(), "{name}");
    }
    for name in ["", "Audio", "a b", "a/b", "ä", &"a".repeat(61)] {
        assert!(validate_name(name).is_err(), "{name}");
    }
}

#[test]
fn most_specific_path_decides() {
    let zones = [
        zone("core", &["src/"]),
        zone("parser", &["src/parser/", "Cargo.toml"]),
        zone("grammar", &["src/parser/*.pest"]),
        zone("tests", &["**/tests.rs"]),
    ];
    for (path, expected) in [
        ("src/lib.rs", Some("core")),
        ("src/parser/mod.rs", Some("parser")),
        ("SRC/Parser/deep/x.rs", Some("parser")),
        ("src/parser/a.pest", Some("grammar")),
        ("src/tests.rs", Some("core")),
        ("cli/tests.rs", Some("tests")),
        ("Cargo.toml", Some("parser")),
        ("README.md", None),
        ("src2/lib.rs", None),
    ] {
        let path: ClaimPath = path.parse().unwrap();
        assert_eq!(zone_of(&zones, &path).map(|zone| zone.name.as_str()), expected, "{path}");
        let reversed: Vec<Zone> = zones.iter().rev().cloned().collect();
        assert_eq!(zone_of(&reversed, &path).map(|zone| zone.name.as_str()), expected, "the order does not count: {path}");
    }
}

#[test]
fn files_of_a_task_are_in_several_zones_or_outside_one() {
    let zones = [zone("core", &["src/"]), zone("parser", &["src/parser/"])];
    let paths = |given: &[&str]| given.iter().map(|path| path.parse().unwrap()).collect::<Vec<ClaimPath>>();
    let names = |given: &[&str]| zones_of(&zones, &paths(given)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(&["src/parser/a.rs", "src/lib.rs", "src/main.rs", "README.md"]), ["core", "parser"]);
    assert_eq!(names(&["README.md"]), [""; 0]);
    let outside = |given: &[&str]| first_outside(&zones, "parser", &paths(given)).map(ToString::to_string);
    assert_eq!(outside(&["src/parser/a.rs", "src/parser/"]), None);
    for path in ["src/lib.rs", "README.md", "src/**"] {
        assert_eq!(outside(&["src/parser/a.rs", path]).as_deref(), Some(path));
    }
}

#[test]
fn paths_are_bounded_and_unique() {
    let taken = [zone("core", &["src/"]), zone("audio", &["audio/"])];
    let paths = |given: &[&str]| {
        let paths = given.iter().map(|path| (*path).to_owned()).collect();
        NewZone { name: "audio".to_owned(), paths, ..NewZone::default() }.paths(&taken)
    };
    let kept: Vec<String> = paths(&["b/", "audio/", "a.rs", "B/"]).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(kept, ["a.rs", "audio/**", "b/**"]);
    let many: Vec<String> = (0..=MAX_PATHS).map(|number| format!("{number}.rs")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(paths(&many[1..]).is_ok());
    for (given, code) in [
        (&[][..], "zone-paths"),
        (&many, "zone-paths"),
        (&["../etc"], "claim-outside"),
        (&["/etc/passwd"], "claim-outside"),
        (&[""], "claim-path-empty"),
        (&["."], "claim-whole-repository"),
        (&["**"], "zone-whole-repository"),
        (&["*/**/*.*"], "zone-whole-repository"),
        (&[".git/hooks"], "claim-git-folder"),
        (&["a", "SRC/"], "zone-path-taken"),
    ] {
        assert_eq!(paths(given).unwrap_err().code(), code, "{given:?}");
    }
}

#[test]
fn file_for_agents_says_whom_to_ask() {
    let audio = Zone { oracle: Some("ivy".to_owned()), ..zone("audio", &["audio/", "mixer.rs"]) };
    insta::assert_snapshot!(code_owners(&[audio, zone("core", &["src/"])]), @"
    # Zones

    A file belongs to the zone with the most specific path that covers it.

    ## audio

    - oracle, for questions: ivy
    - `audio/**`
    - `mixer.rs`

    ## core

    - `src/**`
    ");
}
