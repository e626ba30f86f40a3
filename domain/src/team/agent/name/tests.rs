//! Valid, reserved and short names.

use super::*;

#[test]
fn full_name_includes_the_team() {
    assert_eq!(full_name("mara", None).unwrap(), "mara");
    assert_eq!(full_name("mara", Some("platform")).unwrap(), "platform/mara");
    assert_eq!(full_name("platform/mara", None).unwrap(), "platform/mara");
    assert_eq!(full_name("platform/mara", Some("platform")).unwrap(), "platform/mara");
}

#[test]
fn invalid_and_reserved_names_are_rejected() {
    for bad in ["", " ", "a b", "a/b/c", "/a", "a/", "all", "human", "runner", "team/human", "coder-TASK-001", "a\0", "a\n", "é", &"x".repeat(81)] {
        assert!(full_name(bad, None).is_err(), "{bad:?}");
    }
    assert!(full_name("a/b", Some("other")).is_err());
}

#[test]
fn reserved_names_are_rejected_in_any_case_and_as_teams() {
    for bad in [
        "All",
        "global",
        "Global",
        "x/GLOBAL",
        "HUMAN",
        "Runner",
        "human/x",
        "RUNNER/x",
        "managed",
        "oracle-TASK-001",
        "x/All",
        "Coder-task-012",
        "CODER-TASK-012",
        "coder-TASK-012/x",
        "x/Planner-Task-1",
    ] {
        assert!(matches!(full_name(bad, None), Err(NameError::Invalid { .. })), "{bad}");
    }
    for good in ["humane", "allan", "globally", "runner-up", "coder", "coder-1"] {
        full_name(good, None).unwrap();
    }
}

#[test]
fn short_name_prefers_own_team_then_exact_match() {
    let names = ["mara", "blue/mara", "red/mara"];
    let resolved = ["red/tom", "green/tom", "ida"].map(|speaker| resolve("mara", speaker, &names).unwrap());
    assert_eq!(resolved, ["red/mara", "mara", "mara"]);
    assert_eq!(resolve("blue/mara", "red/tom", &names).unwrap(), "blue/mara");
    assert!(have_same_short_name("Mara", "red/mara") && have_same_short_name("blue/mara", "red/mara") && !have_same_short_name("mara", "mara/red"));
}

#[test]
fn short_name_resolves_only_if_unambiguous() {
    let names = ["blue/mara", "red/mara", "blue/ole", "ida"];
    assert_eq!(resolve("ole", "ida", &names).unwrap(), "blue/ole");
    assert_eq!(resolve("red/mara", "ida", &names).unwrap(), "red/mara");
    assert_eq!(resolve("mara", "red/tom", &names).unwrap(), "red/mara");
    let ambiguous = NameError::Ambiguous { name: "mara".to_owned(), candidates: vec!["blue/mara".to_owned(), "red/mara".to_owned()] };
    assert_eq!(resolve("mara", "ida", &names).unwrap_err(), ambiguous);
}

#[test]
fn unknown_name_returns_similar_names() {
    let names = ["blue/mara", "ole", "coder-TASK-002"];
    let error = resolve("marra", "ida", &names).unwrap_err();
    assert_eq!(error, NameError::Unknown { name: "marra".to_owned(), nearest: vec!["blue/mara".to_owned()] });
    assert_eq!(resolve("zzz", "ida", &names).unwrap_err(), NameError::Unknown { name: "zzz".to_owned(), nearest: Vec::new() });
}

#[test]
fn similar_names_are_found_in_any_case() {
    let names = ["tess", "Blue/Mara", HUMAN, EVERYONE];
    for (given, expected) in [("TESS", "tess"), ("Tes", "tess"), ("mara", "Blue/Mara"), ("ALL", EVERYONE), ("Human", HUMAN)] {
        let error = resolve(given, "ida", &names).unwrap_err();
        let NameError::Unknown { nearest, .. } = error else { panic!("{given}: {error}") };
        assert_eq!(nearest.first().map(String::as_str), Some(expected), "{given}");
    }
}
