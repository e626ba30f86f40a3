//! What belongs together stays together, and what comes in again changes nothing.

use domain::id::{ProjectId, TaskId};
use domain::time::Timestamp;

use super::*;

fn message(id: i64, from: &str, to: &str) -> Message {
    Message {
        id,
        project_id: ProjectId::new(1),
        from_agent: from.to_owned(),
        to_agent: to.to_owned(),
        content: format!("Message {id}"),
        is_cc: false,
        cc_original_to: None,
        task_id: None,
        reply_to: None,
        timestamp: Timestamp::from_milliseconds(id),
        read: false,
    }
}

fn reply(id: i64, to: i64) -> Message {
    Message { reply_to: Some(to), ..message(id, "jon", "mara") }
}

fn about(id: i64, task: u64) -> Message {
    Message { task_id: Some(TaskId::new(task)), ..message(id, "mara", "jon") }
}

fn copy(id: i64, of: &Message, to: &str) -> Message {
    Message { id, to_agent: to.to_owned(), is_cc: true, cc_original_to: Some(of.to_agent.clone()), ..of.clone() }
}

fn ids(threads: &[Thread]) -> Vec<Vec<i64>> {
    threads.iter().map(|thread| thread.entries.iter().map(|entry| entry.message.id).collect()).collect()
}

#[test]
fn replies_and_tasks_make_threads_and_the_newest_comes_last() {
    let messages = [message(1, "mara", "jon"), about(2, 7), reply(3, 1), message(4, "mara", "all"), reply(5, 3), about(6, 7)];
    let threads = threads(&messages);
    assert_eq!(ids(&threads), [vec![4], vec![1, 3, 5], vec![2, 6]]);
    assert_eq!(threads[2].key, Key::Task(TaskId::new(7)));
    assert_eq!(threads[1].key, Key::Chain(1));
}

#[test]
fn replies_to_what_is_not_here_stay_together() {
    assert_eq!(ids(&threads(&[reply(5, 1), reply(6, 1), reply(7, 7)])), [vec![5, 6], vec![7]]);
}

#[test]
fn a_copy_is_a_name_at_what_it_copies() {
    let first = message(1, "mara", "jon");
    let messages = [first.clone(), copy(2, &first, "lea"), copy(3, &first, "human")];
    let threads = threads(&messages);
    assert_eq!(ids(&threads), [[1]]);
    assert_eq!(threads[0].entries[0].cc, ["lea", "human"]);
}

#[test]
fn a_copy_without_its_original_stands_for_it() {
    let threads = threads(&[copy(2, &message(1, "mara", "jon"), "human")]);
    let entry = &threads[0].entries[0];
    assert_eq!((entry.message.to_agent.as_str(), entry.cc.as_slice()), ("jon", ["human".to_owned()].as_slice()));
}

#[test]
fn a_page_replaces_what_it_repeats_and_a_gap_forgets_the_rest() {
    let known = [message(1, "a", "b"), message(2, "a", "b")];
    let read = Message { read: true, ..message(2, "a", "b") };
    let all = merged(&known, vec![read.clone(), message(3, "a", "b")], true);
    assert_eq!(all, [known[0].clone(), read, message(3, "a", "b")]);
    assert_eq!(merged(&known, vec![message(9, "a", "b")], true), [message(9, "a", "b")]);
    assert_eq!(merged(&known, vec![message(9, "a", "b")], false).len(), 3);
    assert_eq!(merged(&known, Vec::new(), false), known);
}
