//! Posts a validated message: its row, its deliveries and its events. Must not refuse anything.

use domain::team::agent::{EVERYONE, HUMAN};
use domain::team::message::{Message, MessageEvent};
use domain::team::person::is_person;

use super::write::{OutgoingMessage, insert_broadcast, insert_deliveries, insert_message, insert_shared};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::roster::Roster;

/// Sends a validated message without copies. Unread messages do not block notifications.
pub(crate) async fn post(tx: &mut Tx, caller: &Caller, post: OutgoingMessage<'_>) -> Result<Message> {
    with_copies_to(tx, caller, post, Vec::new()).await
}

/// Sends a validated message with a copy to each of `copies`. A broadcast has none, because it reaches everyone.
async fn with_copies_to(tx: &mut Tx, caller: &Caller, post: OutgoingMessage<'_>, copies: Vec<String>) -> Result<Message> {
    let id = insert_message(tx, post).await?;
    if post.to == EVERYONE {
        insert_broadcast(tx, post.project, id, post.from).await?;
    } else {
        insert_deliveries(tx, post.project, id, post.to, &copies).await?;
        // A person who writes to the owner means the owner alone.
        if post.to == HUMAN && !is_person(post.from) {
            insert_shared(tx, post.project, id).await?;
        }
    }
    let recipients = std::iter::once((post.to, false)).chain(copies.iter().map(|name| (name.as_str(), true)));
    for (to, is_cc) in recipients {
        let event = MessageEvent::Sent { message: id, from: post.from.to_owned(), to: to.to_owned(), is_cc };
        tx.record_without_card(caller, post.project, post.task, event);
    }
    Ok(Message {
        id,
        project_id: post.project.clone(),
        from_agent: post.from.to_owned(),
        to_agent: post.to.to_owned(),
        content: post.content.to_owned(),
        is_cc: false,
        cc_original_to: None,
        cc: copies,
        task_id: post.task.cloned(),
        reply_to: post.reply_to,
        timestamp: tx.now,
        read: false,
    })
}

/// Sends a validated message with a copy to each of `copies` and to every lead. A broadcast needs no copies.
pub(crate) async fn post_with_copies(
    tx: &mut Tx,
    caller: &Caller,
    roster: &Roster,
    post: OutgoingMessage<'_>,
    copies: Vec<String>,
) -> Result<Message> {
    let mut cc: Vec<String> = Vec::new();
    for name in copies.into_iter().chain(roster.leads().map(str::to_owned)) {
        if post.to != EVERYONE && name != post.to && name != post.from && !cc.contains(&name) {
            cc.push(name);
        }
    }
    cc.sort_unstable();
    with_copies_to(tx, caller, post, cc).await
}
