//! What belongs together stays together, and what comes in again changes nothing.

use domain::id::{ProjectId, TaskId};

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
    messages.iter().map(|message| MessageView { message: message.clone(), content_html: String::new() }).collect()
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
    threads.iter().map(|thread| thread.told.iter().map(Told::id).collect()).collect()
}

#[test]
fn replies_and_tasks_make_threads_and_the_newest_comes_last() {
    let messages = [message(1, "mara", "jon"), about(2, 7), reply(3, 1), message(4, "mara", "all"), reply(5, 3), about(6, 7)];
    let threads = threads(&views(&messages));
    assert_eq!(ids(&threads), [vec![4], vec![1, 3, 5], vec![2, 6]]);
    assert_eq!(threads[2].key, Key::Task(TaskId::new(7)));
    assert_eq!(threads[1].key, Key::Chain(1));
}

#[test]
fn replies_to_what_is_not_here_stay_together() {
    assert_eq!(ids(&threads(&views(&[reply(5, 1), reply(6, 1), reply(7, 7)]))), [vec![5, 6], vec![7]]);
}

#[test]
fn an_answer_quotes_what_does_not_stand_right_above_it() {
    let threads = threads(&views(&[message(1, "mara", "jon"), reply(2, 1), reply(3, 1), message(4, "mara", "jon")]));
    let quoted =
        |hidden| threads[0].shown(hidden).into_iter().map(|(told, answered)| (told.id(), answered.map(|first| first.id))).collect::<Vec<_>>();
    assert_eq!(quoted(0), [(1, None), (2, None), (3, Some(1))]);
    assert_eq!(quoted(1), [(2, None), (3, Some(1))], "nor where that is folded away");
    assert_eq!(keys(&threads), [Key::Chain(1), Key::Chain(4)]);
}

#[test]
fn a_copy_has_the_mark_of_what_it_copies() {
    let first = message(1, "mara", "jon");
    assert_eq!(mark(&copy(2, &first, "human")), mark(&first));
    assert_ne!(mark(&message(2, "mara", "jon")), mark(&first));
}

#[test]
fn a_notice_begins_with_a_word_in_capitals() {
    assert_eq!(notice("[REVIEW] TASK-001: A page"), Some(("REVIEW", "TASK-001: A page")));
    assert_eq!(notice("[HANDSHAKE #1] ALL AGENTS SYNCED"), Some(("HANDSHAKE #1", "ALL AGENTS SYNCED")));
    assert_eq!(notice("[GIVEN UP] TASK-001: A page\n\nToo hard"), Some(("GIVEN UP", "TASK-001: A page\n\nToo hard")));
    for written in ["Which port?", "[1] is a footnote", "[ok] fine", "[REVIEW]", "[REVIEW", "[ALL OF THIS IS A LONG REMARK] yes", "x [REVIEW] y"] {
        assert_eq!(notice(written), None, "{written}");
    }
}

#[test]
fn what_is_told_to_several_is_shown_once() {
    let first = Message { content: "[HANDSHAKE #1] Now".to_owned(), ..message(1, "lea", "ben") };
    let row = |id, to: &str, read| Message { id, to_agent: to.to_owned(), read, ..first.clone() };
    let later = Message { timestamp: Timestamp::from_milliseconds(9), ..row(4, "ben", false) };
    let messages = [first.clone(), row(2, "ole", true), row(3, "human", false), later, reply(5, 3)];
    let threads = threads(&views(&messages));
    assert_eq!(ids(&threads), [vec![4], vec![1, 5]], "a reply to any of its rows belongs to it");
    let told = &threads[1].told[0];
    assert_eq!((told.to.join(" "), told.waiting.join(" ")), ("ben ole human".to_owned(), "ben human".to_owned()));
}

#[test]
fn an_answer_to_any_row_of_what_several_were_told_quotes_it() {
    let first = message(1, "mara", "ben");
    let row = |id, to: &str| Message { id, to_agent: to.to_owned(), ..first.clone() };
    let threads = threads(&views(&[first.clone(), row(2, "ole"), row(3, "jon"), reply(4, 3), reply(5, 2)]));
    let quoted: Vec<_> = threads[0].shown(0).into_iter().map(|(told, answered)| (told.id(), answered.map(|first| first.id))).collect();
    assert_eq!(quoted, [(1, None), (4, None), (5, Some(1))]);
}

#[test]
fn a_reply_is_offered_where_it_is_plain_to_whom() {
    let offered = |from: &str, to: &[&str]| {
        let first = message(1, from, to[0]);
        let rows: Vec<_> = (1..).zip(to).map(|(id, to)| Message { id, to_agent: (*to).to_owned(), ..first.clone() }).collect();
        threads(&views(&rows))[0].told[0].is_answerable()
    };
    assert!(offered(HUMAN, &["jon"]) && offered("mara", &["jon", HUMAN]));
    assert!(!offered(HUMAN, &["jon", "mara"]) && !offered(RUNNER, &[HUMAN]));
}

#[test]
fn the_word_of_a_notice_is_taken_from_its_beginning_alone() {
    assert_eq!(without_word("<p>[REVIEW] It <em>stands</em></p>", "REVIEW").as_deref(), Some("<p>It <em>stands</em></p>"));
    for other in ["<p><a>REVIEW</a> it</p>", "<ul><li>[REVIEW] it</li></ul>", ""] {
        assert_eq!(without_word(other, "REVIEW"), None, "{other}");
    }
}

#[test]
fn a_page_replaces_what_it_repeats_and_a_gap_forgets_the_rest() {
    let one = |id| views(&[message(id, "a", "b")]).remove(0);
    let known = [one(1), one(2)];
    let read = views(&[Message { read: true, ..message(2, "a", "b") }]).remove(0);
    let all = merged(&known, vec![read.clone(), one(3)], true);
    assert_eq!(all, [known[0].clone(), read, one(3)]);
    assert_eq!(merged(&known, vec![one(9)], true), [one(9)]);
    assert_eq!(merged(&known, vec![one(9)], false).len(), 3);
    assert_eq!(merged(&known, Vec::new(), false), known);
}
