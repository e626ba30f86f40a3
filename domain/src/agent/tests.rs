//! Names, what they may stand for, and signs of life.

use super::*;

#[test]
fn names_carry_their_team() {
    assert_eq!(full_name("mara", None).unwrap(), "mara");
    assert_eq!(full_name("mara", Some("platform")).unwrap(), "platform/mara");
    assert_eq!(full_name("platform/mara", None).unwrap(), "platform/mara");
    assert_eq!(full_name("platform/mara", Some("platform")).unwrap(), "platform/mara");
}

#[test]
fn names_of_others_and_odd_names_are_refused() {
    for bad in ["", " ", "a b", "a/b/c", "/a", "a/", "all", "human", "runner", "team/human", "coder-TASK-001", "a\0", "a\n", "é", &"x".repeat(81)] {
        assert!(full_name(bad, None).is_err(), "{bad:?}");
    }
    assert!(full_name("a/b", Some("other")).is_err());
}

#[test]
fn a_short_name_means_the_only_one_or_the_own_teams() {
    let names = ["blue/mara", "red/mara", "blue/ole", "ida"];
    assert_eq!(resolve("ole", "ida", &names).unwrap(), "blue/ole");
    assert_eq!(resolve("red/mara", "ida", &names).unwrap(), "red/mara");
    assert_eq!(resolve("mara", "red/tom", &names).unwrap(), "red/mara");
    assert_eq!(resolve("mara", "ida", &names).unwrap_err().code(), "ambiguous-agent");
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let names = ["blue/mara", "ole", "coder-TASK-002"];
    let refusal = resolve("marra", "ida", &names).unwrap_err();
    assert_eq!(refusal, Refusal::UnknownAgent { name: "marra".to_owned(), nearest: vec!["blue/mara".to_owned()] });
    assert_eq!(resolve("zzz", "ida", &names).unwrap_err(), Refusal::UnknownAgent { name: "zzz".to_owned(), nearest: Vec::new() });
}

#[test]
fn health_turns_at_two_and_at_ten_minutes() {
    let beat = Timestamp::from_milliseconds(1_000_000);
    let after = |seconds| Health::of(Some(beat), beat.after(Duration::from_secs(seconds)));
    assert_eq!(Health::of(None, beat), Health::Unknown);
    assert_eq!([after(0), after(119), after(120), after(599), after(600)], {
        use Health::{Dead, Healthy, Stale};
        [Healthy, Healthy, Stale, Stale, Dead]
    });
}
