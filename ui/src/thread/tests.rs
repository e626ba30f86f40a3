//! Tests of threads, notices and merging pages of messages.

use domain::id::{ProjectId, TaskId};
use domain::team::agent::HUMAN;

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
        cc: Vec::new(),
        task_id: None,
        reply_to: None,
        timestamp: Timestamp::from_milliseconds(id),
        read: false,
    }
}

fn views(messages: &[Message]) -> Vec<MessageView> {
    messages.iter().map(|message| MessageView { message: message.clone(), content_html: String::new(), acknowledged: false }).collect()
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
    threads.iter().map(|thread| thread.entries.iter().map(ThreadEntry::id).collect()).collect()
}

#[test]
fn replies_and_tasks_form_threads_newest_last() {
    let messages = [message(1, "mara", "jon"), about(2, 7), reply(3, 1), message(4, "mara", "all"), reply(5, 3), about(6, 7)];
    let threads = threads(&views(&messages));
    assert_eq!(ids(&threads), [vec![4], vec![1, 3, 5], vec![2, 6]]);
    assert_eq!(threads[2].key, ThreadKey::Task(TaskId::new(7)));
    assert_eq!(threads[1].key, ThreadKey::Chain(1));
}

#[test]
fn replies_to_an_unloaded_message_share_a_thread() {
    assert_eq!(ids(&threads(&views(&[reply(5, 1), reply(6, 1), reply(7, 7)]))), [vec![5, 6], vec![7]]);
}

#[test]
fn reply_quotes_its_original_unless_adjacent() {
    let threads = threads(&views(&[message(1, "mara", "jon"), reply(2, 1), reply(3, 1), message(4, "mara", "jon")]));
    let quoted =
        |hidden| threads[0].shown(hidden).into_iter().map(|(entry, answered)| (entry.id(), answered.map(|first| first.id))).collect::<Vec<_>>();
    assert_eq!(quoted(0), [(1, None), (2, None), (3, Some(1))]);
    assert_eq!(quoted(1), [(2, None), (3, Some(1))], "a hidden original is not quoted if it is adjacent");
    assert_eq!(keys(&threads), [ThreadKey::Chain(1), ThreadKey::Chain(4)]);
}

#[test]
fn copy_has_the_fingerprint_of_its_original() {
    let first = message(1, "mara", "jon");
    assert_eq!(fingerprint(&copy(2, &first, "human")), fingerprint(&first));
    assert_ne!(fingerprint(&message(2, "mara", "jon")), fingerprint(&first));
}

#[test]
fn notice_begins_with_a_tag_in_capitals() {
    assert_eq!(notice("[REVIEW] TASK-001: A page"), Some(("REVIEW", "TASK-001: A page")));
    assert_eq!(notice("[HANDSHAKE #1] ALL AGENTS SYNCED"), Some(("HANDSHAKE #1", "ALL AGENTS SYNCED")));
    assert_eq!(notice("[CANCELLED] TASK-001: A page\n\nToo hard"), Some(("CANCELLED", "TASK-001: A page\n\nToo hard")));
    for written in ["Which port?", "[1] is a footnote", "[ok] fine", "[REVIEW]", "[REVIEW", "[ALL OF THIS IS A LONG REMARK] yes", "x [REVIEW] y"] {
        assert_eq!(notice(written), None, "{written}");
    }
}

#[test]
fn notice_to_several_recipients_is_one_entry() {
    let first = Message { content: "[HANDSHAKE #1] Now".to_owned(), ..message(1, "lea", "ben") };
    let row = |id, to: &str, read| Message { id, to_agent: to.to_owned(), read, ..first.clone() };
    let later = Message { timestamp: Timestamp::from_milliseconds(9), ..row(4, "ben", false) };
    let messages = [first.clone(), row(2, "ole", true), row(3, "human", false), later, reply(5, 3)];
    let threads = threads(&views(&messages));
    assert_eq!(ids(&threads), [vec![4], vec![1, 5]], "a reply to any row joins its thread");
    let entry = &threads[1].entries[0];
    assert_eq!((entry.to.join(" "), entry.unread_by.join(" ")), ("ben ole human".to_owned(), "ben human".to_owned()));
}

#[test]
fn reply_to_any_row_quotes_the_message() {
    let first = message(1, "mara", "ben");
    let row = |id, to: &str| Message { id, to_agent: to.to_owned(), ..first.clone() };
    let threads = threads(&views(&[first.clone(), row(2, "ole"), row(3, "jon"), reply(4, 3), reply(5, 2)]));
    let quoted: Vec<_> = threads[0].shown(0).into_iter().map(|(entry, answered)| (entry.id(), answered.map(|first| first.id))).collect();
    assert_eq!(quoted, [(1, None), (4, None), (5, Some(1))]);
}

#[test]
fn reply_is_offered_when_the_recipient_is_unambiguous() {
    let offered = |from: &str, to: &[&str]| {
        let first = message(1, from, to[0]);
        let rows: Vec<_> = (1..).zip(to).map(|(id, to)| Message { id, to_agent: (*to).to_owned(), ..first.clone() }).collect();
        threads(&views(&rows))[0].entries[0].is_answerable()
    };
    assert!(offered(HUMAN, &["jon"]) && offered("mara", &["jon", HUMAN]));
    assert!(!offered(HUMAN, &["jon", "mara"]) && !offered(RUNNER, &[HUMAN]));
}

#[test]
fn tag_is_stripped_only_at_the_beginning() {
    assert_eq!(strip_tag("<p>[REVIEW] It <em>stands</em></p>", "REVIEW").as_deref(), Some("<p>It <em>stands</em></p>"));
    for other in ["<p><a>REVIEW</a> it</p>", "<ul><li>[REVIEW] it</li></ul>", ""] {
        assert_eq!(strip_tag(other, "REVIEW"), None, "{other}");
    }
}

#[test]
fn page_replaces_known_rows_and_a_gap_drops_them() {
    let one = |id| views(&[message(id, "a", "b")]).remove(0);
    let known = [one(1), one(2)];
    let read = views(&[Message { read: true, ..message(2, "a", "b") }]).remove(0);
    let all = merge(&known, vec![read.clone(), one(3)], true);
    assert_eq!(all, [known[0].clone(), read, one(3)]);
    assert_eq!(merge(&known, vec![one(9)], true), [one(9)]);
    assert_eq!(merge(&known, vec![one(9)], false).len(), 3);
    assert_eq!(merge(&known, Vec::new(), false), known);
}
