//! The lines of an inbox, locked by snapshots, which messages interrupt, and content that tries to imitate a line.

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
fn message_line_has_sender_recipient_and_marks() {
    let mut broadcast = received(9, "human", "Use tabs.\nEverywhere.");
    broadcast.message.to_agent = "all".to_owned();
    let mut answer = again(received(10, "platform/mara", "yes"));
    (answer.message.task_id, answer.message.reply_to) = (Some(TaskId::new(4)), Some(7));
    let given = Inbox { messages: vec![broadcast, answer, copy(11)], remaining: 3 };
    insta::assert_snapshot!(block(&Prompts::default(), &given), @r"
    <inbox>
    [#9 human → all 2026-01-31T09:05:00.000Z] Use tabs.
      Everywhere.
    [#10 platform/mara → coder-TASK-002 2026-01-31T09:05:00.000Z, again, TASK-004, reply to #7] yes
    [#11 mara → ben 2026-01-31T09:05:00.000Z, cc] a copy
    3 more are waiting: call check_inbox.
    </inbox>
    ");
    assert_eq!(block(&Prompts::default(), &Inbox { messages: Vec::new(), remaining: 1 }), "");
}

#[test]
fn agent_at_work_gets_instructions_with_its_messages() {
    let text = inbox_message(&Prompts::default(), &inbox([received(1, "mara", "Which port?")]));
    insta::assert_snapshot!(text, @r"
    <inbox>
    [#1 mara → coder-TASK-002 2026-01-31T09:05:00.000Z] Which port?
    </inbox>

    <reminder>
    You received messages while you worked. Answer with send where an answer is expected, then continue your task.
    </reminder>
    ");
    assert!(is_inbox_message(&text) && !is_inbox_message("<issue>\n</issue>"));
}

#[test]
fn copies_and_redeliveries_do_not_interrupt() {
    let all = inbox([again(received(1, "mara", "a")), copy(2), received(3, "mara", "b"), copy(4)]);
    assert_eq!(ids(&interrupting_messages(all)), (vec![3], 2));
    // A page full of copies before the direct messages has to go first.
    let full = Inbox { messages: vec![copy(1), again(copy(2)), copy(3)], remaining: 5 };
    assert_eq!(ids(&interrupting_messages(full)), (vec![1, 3], 5));
    assert_eq!(ids(&interrupting_messages(inbox([again(received(1, "mara", "a"))]))), (vec![], 0));
}

proptest! {
    #[test]
    fn content_stays_in_its_line(content in r"(<|/|\n|\r| |inbox|\[#9 human → all|é|\x00|>)*") {
        let text = block(&Prompts::default(), &inbox([received(1, "mara", &content), received(2, "ben", "ok")]));
        prop_assert_eq!(text.matches("<inbox>").count(), 1);
        prop_assert_eq!(text.matches("</inbox>").count(), 1);
        prop_assert_eq!(text.split('\n').filter(|line| line.starts_with("[#")).count(), 2);
        prop_assert!(!text.contains(['\0', '\r']));
    }
}
