//! Compares every combination of kinds, statuses and movers with a second, hand-written list.

use super::*;

/// The legal moves, one line for each kind of task and mover: `from>to` pairs by initials (b, p, r, d, c).
const LEGAL: &[(&str, &str, &str)] = &[
    ("planner", "human", "b>p p>d d>p p>b b>c p>c r>c c>b"),
    ("orchestrator", "human", "b>p p>d p>b b>c p>c r>c c>b"),
    ("reviewer", "human", "b>p p>b b>c p>c r>c c>b"),
    ("coder", "human", "b>p p>r p>d r>r r>d r>p d>d d>p p>b b>c p>c r>c c>b"),
    ("oracle", "human", "b>p p>b b>c p>c r>c"),
    ("planner", "runner", "b>p"),
    ("orchestrator", "runner", "b>p"),
    ("reviewer", "runner", "b>p"),
    ("coder", "runner", "b>p r>d r>p d>p"),
    ("oracle", "runner", "b>p p>d b>d d>b c>b"),
    ("planner", "planner", "p>d"),
    ("orchestrator", "planner", "p>d"),
    ("planner", "orchestrator", "p>d b>c p>c r>c"),
    ("orchestrator", "orchestrator", "p>d b>c p>c r>c"),
    ("reviewer", "orchestrator", "b>c p>c r>c"),
    ("coder", "orchestrator", "b>c p>c r>c d>d d>p"),
    ("oracle", "orchestrator", "b>c p>c r>c"),
    ("coder", "coder", "p>r"),
    ("coder", "reviewer", "r>r r>p"),
    ("coder", "assignee", "b>p p>r p>c"),
    ("coder", "lead", "b>c r>d r>p c>b"),
    ("coder", "verifier", "d>d d>p"),
];

fn letter(status: Status) -> &'static str {
    match status {
        Backlog => "b",
        InProgress => "p",
        InReview => "r",
        Done => "d",
        Cancelled => "c",
    }
}

#[test]
fn table_equals_the_hand_written_list() {
    for phase in AgentKind::ALL {
        for who in Mover::ALL {
            let legal = LEGAL.iter().find(|(p, w, _)| *p == phase.as_str() && *w == who.as_str()).map_or("", |(_, _, moves)| moves);
            let legal: Vec<&str> = legal.split_whitespace().collect();
            for from in Status::ALL {
                for to in Status::ALL {
                    let name = format!("{}>{}", letter(*from), letter(*to));
                    let found = rule(*phase, *from, *to, *who).is_some();
                    assert_eq!(found, legal.contains(&name.as_str()), "{who} moves a {phase} task {from} -> {to}");
                }
            }
        }
    }
}

#[test]
fn no_two_rules_cover_the_same_move() {
    for (index, one) in TABLE.iter().enumerate() {
        for other in &TABLE[index + 1..] {
            let overlap = one.from == other.from
                && one.to == other.to
                && one.movers.iter().any(|who| other.movers.contains(who))
                && one.phases.iter().any(|phase| other.phases.contains(phase));
            assert!(!overlap, "{one:?} and {other:?}");
        }
    }
}

#[test]
fn columns_and_targets_come_from_the_table() {
    assert_eq!(target_columns(AgentKind::Coder, InReview, Human), [(InProgress, Comment), (Done, Approval), (Cancelled, Reason)]);
    assert_eq!(target_columns(AgentKind::Coder, Cancelled, Runner), []);
    let all: Vec<Status> = targets(AgentKind::Planner, InProgress).into_iter().map(|target| target.to).collect();
    assert_eq!(all, [Done, Backlog, Cancelled]);
}

#[test]
fn agents_request_only_moves_of_their_kind() {
    let requested: Vec<Vec<Status>> = AgentKind::ALL.iter().map(|kind| requested_statuses(*kind)).collect();
    assert_eq!(requested, [vec![Done], vec![InReview], vec![InProgress, Done], vec![Done, Cancelled], vec![]]);
}
