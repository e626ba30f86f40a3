//! Agents from outside that fall silent: when the person is told, when not, and when it is taken back.

use domain::board::attention::AttentionKind::{AssigneeUnresponsive, ChecksFailed};
use domain::board::status::HeldBy;
use domain::board::status::Status::{Done, InProgress, InReview};
use domain::runs::agent_kind::AgentKind::Coder;

use super::scene::{Draft, at, noon, scene, task};

/// The actions for one task, without its name.
fn told(draft: Draft) -> Vec<String> {
    scene([draft]).actions().iter().map(|action| action.replace("TASK-001 ", "")).collect()
}

const LOST: &str =
    "misses mara: Assigned to mara, silent since 11:50 UTC. Wake mara, assign it to another agent, or take it back from mara and press Start.";

#[test]
fn a_task_whose_assignee_is_silent_for_ten_minutes_needs_the_person() {
    for waiting in [task(1), task(1).status(InProgress)] {
        let board = scene([waiting.left_to("mara", Some(at(11, 50)))]);
        assert_eq!(board.actions(), [format!("TASK-001 {LOST}")]);
        assert_eq!(board.whys(), ["TASK-001: needs you"]);
    }
    let almost = scene([task(1).left_to("mara", Some(at(11, 51))), task(2).left_to("ole", Some(at(11, 59)))]);
    assert!(almost.actions().is_empty());
    assert_eq!(almost.whys(), ["TASK-001: assigned to mara", "TASK-002: assigned to ole"]);
    assert_eq!(almost.plan().look_again, Some(at(12, 1)), "nothing happens when an agent falls silent");
}

#[test]
fn one_that_was_never_there_is_waited_for_since_the_assignment() {
    let ahead = |minute| task(1).left_to("mara", None).updated(at(11, minute));
    let words = "Assigned to mara, never heard of yet. Start mara, assign it to another agent, or take it back from mara and press Start.";
    assert_eq!(told(ahead(50)), [format!("misses mara: {words}")]);
    assert!(told(ahead(51)).is_empty());
    assert_eq!(scene([ahead(55)]).plan().look_again, Some(at(12, 5)));
    // That it was said is a change of the task, and no sign of life.
    assert!(told(ahead(59).attention(AssigneeUnresponsive)).is_empty());
}

#[test]
fn nobody_is_missed_who_is_connected_or_for_whom_nothing_waits() {
    let silent = |draft: Draft| draft.left_to("mara", Some(at(3, 0)));
    let board = scene([
        silent(task(1)).held(HeldBy::Human),
        silent(task(2)).after(&[1]),
        silent(task(3)).status(InReview),
        silent(task(4)).status(Done),
        silent(task(5)).status(InProgress).needs_person(),
        silent(task(6)).status(InProgress).attention(AssigneeUnresponsive),
        silent(task(7)).status(InProgress).running(Coder),
        task(8).status(InProgress).assigned("mara"),
    ])
    .busy(&[7]);
    assert!(board.actions().is_empty(), "{:?}", board.actions());
    assert_eq!(board.plan().look_again, None);
}

#[test]
fn it_is_taken_back_when_the_assignee_is_heard_of_or_nothing_waits_for_it() {
    let missed = |draft: Draft| draft.attention(AssigneeUnresponsive);
    let silent = |draft: Draft| missed(draft.left_to("mara", Some(at(3, 0))));
    let board = scene([
        missed(task(1).assigned("mara")),
        missed(task(2).status(InProgress).left_to("mara", Some(at(11, 58)))),
        silent(task(3)).held(HeldBy::Stop),
        silent(task(4)).after(&[3]),
        silent(task(5)).approved(),
        missed(task(6)),
        silent(task(7)),
        task(8).assigned("mara").attention(ChecksFailed),
    ]);
    assert_eq!(board.actions(), [1, 2, 3, 4, 5, 6].map(|number| format!("TASK-{number:03} misses nobody")));
    assert_eq!(board.whys().len(), 8, "until then all of them need the person: {:?}", board.whys());
}

/// Whoever was connected to the last server may not be back yet.
#[test]
fn a_server_that_just_began_gives_nobody_up_and_takes_nothing_back() {
    let silent = || task(1).left_to("mara", Some(at(3, 0)));
    for known in [silent(), silent().attention(AssigneeUnresponsive)] {
        let board = scene([known]).listening_since(at(11, 55));
        assert!(board.actions().is_empty());
        assert_eq!(board.plan().look_again, Some(at(12, 5)));
    }
    assert_eq!(scene([silent()]).listening_since(at(11, 50)).actions().len(), 1);
    assert_eq!(scene([task(1).assigned("mara").attention(AssigneeUnresponsive)]).listening_since(noon()).actions(), ["TASK-001 misses nobody"]);
}

#[test]
fn a_handshake_is_completed_when_all_for_whom_it_waits_are_given_up() {
    let board = scene([]).unanswered(2, noon()).unanswered(3, at(12, 4)).unanswered(4, at(11, 0));
    assert_eq!(board.actions(), ["complete handshake 2", "complete handshake 4"]);
    assert_eq!(board.plan().look_again, Some(at(12, 4)));
}
