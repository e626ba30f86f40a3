//! Decisions about paths, and that no path ever has two holders.

use proptest::prelude::*;

use super::*;
use crate::time::Timestamp;

fn path(given: &str) -> ClaimPath {
    given.parse().expect("a path")
}

fn project() -> ProjectId {
    ProjectId::new(1)
}

fn claims(held: &[(&str, &str)], waiting: &[(&str, &str)]) -> Claims {
    let at = Timestamp::from_milliseconds(0);
    let claim = |(id, (agent, given)): (i64, &(&str, &str))| Claim {
        id,
        project_id: project(),
        agent: (*agent).to_owned(),
        task_id: None,
        path: path(given),
        claimed_at: at,
    };
    let wait = |(id, (agent, given)): (i64, &(&str, &str))| ClaimWait {
        id,
        project_id: project(),
        agent: (*agent).to_owned(),
        task_id: None,
        path: path(given),
        since: at,
    };
    Claims { claims: (0..).zip(held).map(claim).collect(), waits: (0..).zip(waiting).map(wait).collect() }
}

/// The decision in a few words.
fn decide(state: &Claims, agent: &str, given: &str) -> String {
    match state.decide(&project(), agent, &path(given)) {
        Decision::Held(claim) => format!("held by {}", claim.path),
        Decision::Free => "free".to_owned(),
        Decision::Taken { holder, ahead } => format!("taken by {}, {ahead} ahead", holder.agent),
        Decision::Deadlock { holder, wanted } => format!("deadlock with {}, {} wants {}", holder.agent, wanted.agent, wanted.path),
    }
}

#[test]
fn one_agent_holds_a_path_and_others_wait() {
    let state = claims(&[("ann", "src/lib.rs"), ("ole", "docs/**")], &[("bea", "src/lib.rs"), ("cid", "src")]);
    assert_eq!(decide(&state, "ann", "SRC/lib.rs"), "held by src/lib.rs");
    assert_eq!(decide(&state, "ann", "src/main.rs"), "free");
    assert_eq!(decide(&state, "ann", "src/*.rs"), "free");
    assert_eq!(decide(&state, "ole", "docs/a/b.md"), "held by docs/**");
    assert_eq!(decide(&state, "bea", "src/lib.rs"), "taken by ann, 0 ahead");
    assert_eq!(decide(&state, "dan", "./src/lib.rs"), "taken by ann, 2 ahead");
    assert_eq!(decide(&state, "dan", "docs/x.md"), "taken by ole, 0 ahead");
}

#[test]
fn agent_of_the_same_name_in_another_project_is_another_agent() {
    let state = claims(&[("ann", "src/lib.rs")], &[]);
    assert!(matches!(state.decide(&ProjectId::new(2), "ann", &path("src/lib.rs")), Decision::Taken { .. }));
}

#[test]
fn agents_that_would_wait_for_each_other_are_a_deadlock() {
    let state = claims(&[("ann", "a"), ("bea", "b"), ("cid", "c")], &[("bea", "a"), ("cid", "b")]);
    assert_eq!(decide(&state, "ann", "b"), "deadlock with bea, bea wants a");
    assert_eq!(decide(&state, "ann", "c"), "deadlock with cid, bea wants a");
    assert_eq!(decide(&state, "dan", "c"), "taken by cid, 0 ahead");
}

#[test]
fn path_passes_to_the_first_in_line() {
    let state = claims(&[("ann", "a")], &[("bea", "src/**"), ("cid", "src/x"), ("dan", "a"), ("eve", "b")]);
    let next: Vec<&str> = state.next_in_line().iter().map(|wait| wait.agent.as_str()).collect();
    assert_eq!(next, ["bea", "eve"]);
    let waits = state.waits[2].clone();
    assert_eq!(state.holder_for(&waits).map(|claim| claim.agent.as_str()), Some("ann"));
}

proptest! {
    /// Whatever agents ask for and release, no two hold the same file, and no agent waits for a path that is free.
    #[test]
    fn no_path_ever_has_two_holders(steps in prop::collection::vec((0..5_usize, 0..6_usize, any::<bool>()), 1..60)) {
        let (agents, paths) = (["a", "b", "c", "d", "e"], ["src/x", "SRC/X", "src", "src/*", "docs/y", "docs/**"]);
        let mut state = Claims::default();
        for (agent, given, releases) in steps {
            let (agent, given) = (agents[agent], path(paths[given]));
            if releases {
                state.claims.retain(|claim| claim.agent != agent);
                let next: Vec<ClaimWait> = state.next_in_line().into_iter().cloned().collect();
                for wait in next {
                    state.waits.retain(|other| other.agent != wait.agent || other.path != wait.path);
                    state.claims.extend(claims(&[(&wait.agent, wait.path.as_str())], &[]).claims);
                }
            } else {
                match state.decide(&project(), agent, &given) {
                    Decision::Free => state.claims.extend(claims(&[(agent, given.as_str())], &[]).claims),
                    Decision::Taken { .. } if !state.waits.iter().any(|wait| wait.agent == agent && wait.path == given) => {
                        state.waits.extend(claims(&[], &[(agent, given.as_str())]).waits);
                    }
                    Decision::Held(_) | Decision::Taken { .. } | Decision::Deadlock { .. } => {}
                }
            }
            for (place, claim) in state.claims.iter().enumerate() {
                let shared = state.claims.iter().skip(place + 1).find(|other| other.agent != claim.agent && other.path.overlaps(&claim.path));
                prop_assert_eq!(shared, None, "{:?}", claim);
            }
            prop_assert!(state.next_in_line().is_empty());
        }
    }
}
