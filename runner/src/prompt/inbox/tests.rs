//! The lines of an inbox, locked by snapshots; what is given at once, what waits, and what others' words cannot do.

use domain::id::{ProjectId, TaskId};
use domain::team::message::Message;
use domain::time::Timestamp;
use proptest::prelude::*;

use super::*;

fn received(id: i64, from: &str, content: &str) -> InboxMessage {
    let message = Message {
        id,
        project_id: ProjectId::new(1),
        from_agent: from.to_owned(),
        to_agent: "coder-TASK-002".to_owned(),
        content: content.to_owned(),
        is_cc: false,
        cc_original_to: None,
        cc: Vec::new(),
        task_id: None,
        reply_to: None,
        timestamp: Timestamp::from_milliseconds(1_769_850_300_000),
        read: false,
    };
    InboxMessage { message, redelivered: false }
}

fn copy(id: i64) -> InboxMessage {
    let mut copy = received(id, "mara", "a copy");
    (copy.message.is_cc, copy.message.cc_original_to) = (true, Some("ben".to_owned()));
    copy
}

fn again(mut received: InboxMessage) -> InboxMessage {
    received.redelivered = true;
    received
}

fn inbox(messages: impl IntoIterator<Item = InboxMessage>) -> Inbox {
    Inbox { messages: messages.into_iter().collect(), remaining: 0 }
}

fn ids(inbox: &Inbox) -> (Vec<i64>, u32) {
    (inbox.messages.iter().map(|received| received.message.id).collect(), inbox.remaining)
}

#[test]
fn every_message_says_who_wrote_it_to_whom_and_what_it_is() {
    let mut broadcast = received(9, "human", "Use tabs.\nEverywhere.");
    broadcast.message.to_agent = "all".to_owned();
    let mut answer = again(received(10, "platform/mara", "yes"));
    (answer.message.task_id, answer.message.reply_to) = (Some(TaskId::new(4)), Some(7));
    let given = Inbox { messages: vec![broadcast, answer, copy(11)], remaining: 3 };
    insta::assert_snapshot!(block(&given), @r"
    <inbox>
    [#9 human → all 2026-01-31T09:05:00.000Z] Use tabs.
      Everywhere.
    [#10 platform/mara → coder-TASK-002 2026-01-31T09:05:00.000Z, again, TASK-004, reply to #7] yes
    [#11 mara → ben 2026-01-31T09:05:00.000Z, cc] a copy
    3 more wait: call check_inbox.
    </inbox>
    ");
    assert_eq!(block(&Inbox { messages: Vec::new(), remaining: 1 }), "");
}

#[test]
fn an_agent_at_work_is_told_what_to_do_about_it() {
    let text = told(&inbox([received(1, "mara", "Which port?")]));
    insta::assert_snapshot!(text, @r"
    <inbox>
    [#1 mara → coder-TASK-002 2026-01-31T09:05:00.000Z] Which port?
    </inbox>

    <reminder>
    Others wrote to you while you worked. Answer with send where somebody waits for an answer, then go on with your task.
    </reminder>
    ");
    assert!(is_told(&text) && !is_told("<issue>\n</issue>"));
}

#[test]
fn nobody_is_interrupted_for_copies_or_twice_for_the_same() {
    let all = inbox([again(received(1, "mara", "a")), copy(2), received(3, "mara", "b"), copy(4)]);
    assert_eq!(ids(&pressing(all)), (vec![3], 2));
    // A page full of copies in front of what is pressing: they have to go first.
    let full = Inbox { messages: vec![copy(1), again(copy(2)), copy(3)], remaining: 5 };
    assert_eq!(ids(&pressing(full)), (vec![1, 3], 5));
    assert_eq!(ids(&pressing(inbox([again(received(1, "mara", "a"))]))), (vec![], 0));
}

proptest! {
    #[test]
    fn no_words_leave_their_line(content in r"(<|/|\n|\r| |inbox|\[#9 human → all|é|\x00|>)*") {
        let text = block(&inbox([received(1, "mara", &content), received(2, "ben", "ok")]));
        prop_assert_eq!(text.matches("<inbox>").count(), 1);
        prop_assert_eq!(text.matches("</inbox>").count(), 1);
        prop_assert_eq!(text.split('\n').filter(|line| line.starts_with("[#")).count(), 2);
        prop_assert!(!text.contains(['\0', '\r']));
    }
}
