//! Messages in sessions: written by those who may read the session, and read by their audience.

use std::collections::BTreeMap;

use domain::context::metadata::validate_metadata;
use domain::context::session::visibility::{Audience, Visibility};
use domain::context::session::{
    ContextSession, ContextSessionId, DEFAULT_MESSAGES, MAX_MESSAGES, MAX_OFFSET, NewSessionMessage, SessionEvent, SessionMessage, SessionMessages,
    SessionRefusal, validate_content, validate_limit,
};
use domain::refusal::GeneralRefusal;
use domain::refusal::Refusal;
use domain::time::Timestamp;

use super::row::Part;
use super::{row, write};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::team::participant::row as participant;

/// The messages of a session that a caller wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionMessageQuery {
    /// Only messages of this visibility. The owner of the board then reads those of others too, which the event log records.
    pub visibility: Option<Visibility>,
    /// Only messages before this one.
    pub before: Option<i64>,
    /// Only messages after this one: the oldest of them, instead of the newest.
    pub after: Option<i64>,
    /// 50 by default, at most 1,000.
    pub limit: Option<u32>,
    /// How many of the newest messages are skipped.
    pub offset: u32,
}

impl Db {
    /// Adds a message to a session. It reaches no inbox.
    ///
    /// # Errors
    /// When the session does not exist for the caller or is closed, the content or the metadata is invalid, the caller may not write with this
    /// visibility, or the message that it answers is not in this session or hidden from the caller.
    pub async fn add_session_message(&self, caller: &Caller, session: &ContextSessionId, new: NewSessionMessage) -> Result<SessionMessage> {
        let id = session.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (session, sender) = row::read_for(&mut tx.connection, caller, &id).await?;
                if let Some(project) = &session.project_id {
                    participant::load(&mut tx.connection, caller, project).await?;
                }
                if !session.is_active {
                    return Err(SessionRefusal::Closed { session: id }.into());
                }
                validate_content(&new.content)?;
                let visibility = new.visibility.unwrap_or(Visibility::Public);
                if visibility == Visibility::AdminOnly && !sender.is_admin() {
                    return Err(SessionRefusal::AdminOnly.into());
                }
                if let Some(parent) = new.parent_message_id {
                    let audience = row::audience_of(&mut tx.connection, &id, parent).await?;
                    let own = row::audience_words(&sender, &session, None);
                    audience.filter(|audience| own.contains(audience)).ok_or_else(|| Refusal::not_found("message", parent))?;
                }
                let new = NewSessionMessage { metadata: validate_metadata(new.metadata)?, ..new };
                let audience = Audience::of_message(visibility, &sender);
                let stored = write::insert_message(tx, &session, &sender, &audience, new).await?;
                let event = SessionEvent::MessageAdded { session: id, message: stored.id, visibility };
                write::record(tx, caller, session.project_id.as_ref(), event);
                Ok(stored)
            })
        })
        .await
    }

    /// Returns messages of a session that the caller may read, newest first.
    ///
    /// # Errors
    /// When the session does not exist for the caller, or a number is out of range.
    pub async fn session_messages(&self, caller: &Caller, session: &ContextSessionId, query: &SessionMessageQuery) -> Result<SessionMessages> {
        let limit = validate_limit(query.limit, DEFAULT_MESSAGES, MAX_MESSAGES)?;
        let offset = validate_offset(query.offset)?;
        let part = match (query.after, query.before) {
            (Some(_), Some(_)) => return Err(Refusal::invalid("after", "it contradicts before", "Give one of the two.").into()),
            (Some(after), None) => Part::After(after),
            (None, before) => Part::Before(before.unwrap_or(i64::MAX)),
        };
        let mut connection = self.readers.acquire().await?;
        let (session, reader) = row::read_for(&mut connection, caller, session).await?;
        let own = row::audience_words(&reader, &session, query.visibility);
        let page = (limit + 1, offset);
        let of_everyone = query.visibility.filter(|visibility| reader.is_owner() && *visibility != Visibility::Public);
        let (mut messages, total_count) = match of_everyone {
            Some(visibility) => (
                row::hidden(&mut connection, &session.id, visibility, &part, page).await?,
                row::count_messages(&mut connection, &session.id, |_, other| other == visibility).await?,
            ),
            None => (
                row::messages(&mut connection, &session.id, &part, &own, page).await?,
                row::count_messages(&mut connection, &session.id, |audience, _| own.iter().any(|word| word == audience)).await?,
            ),
        };
        drop(connection);
        let has_more = messages.len() > limit as usize;
        messages.truncate(limit as usize);
        let of_others = messages.iter().filter(|(audience, _)| !own.contains(audience)).count();
        self.record_private_read(caller, &session, of_others).await?;
        self.record_admin_read(caller, &session, messages.iter().map(|(_, message)| message));
        let mut messages: Vec<SessionMessage> = messages.into_iter().map(|(_, message)| message).collect();
        if query.after.is_some() {
            messages.reverse();
        }
        Ok(SessionMessages { messages, total_count, has_more })
    }

    /// Returns those of some messages of a session that the caller may read, whatever their order.
    ///
    /// # Errors
    /// When the session does not exist for the caller.
    pub async fn session_messages_by_id(&self, caller: &Caller, session: &ContextSessionId, ids: &[i64]) -> Result<Vec<SessionMessage>> {
        let mut connection = self.readers.acquire().await?;
        let (session, reader) = row::read_for(&mut connection, caller, session).await?;
        let found = row::some(&mut connection, &session.id, ids, &row::audience_words(&reader, &session, None)).await?;
        self.record_admin_read(caller, &session, found.iter());
        Ok(found)
    }

    /// Returns the newest messages of a sender that the caller may read, newest first.
    ///
    /// # Errors
    /// When the session does not exist for the caller, or the limit is out of range.
    pub async fn session_messages_of_sender(
        &self,
        caller: &Caller,
        session: &ContextSessionId,
        sender: &str,
        limit: Option<u32>,
    ) -> Result<Vec<SessionMessage>> {
        let limit = validate_limit(limit, 20, 100)?;
        let mut connection = self.readers.acquire().await?;
        let (session, reader) = row::read_for(&mut connection, caller, session).await?;
        let found =
            row::messages(&mut connection, &session.id, &Part::OfSender(sender), &row::audience_words(&reader, &session, None), (limit, 0)).await?;
        self.record_admin_read(caller, &session, found.iter().map(|(_, message)| message));
        Ok(found.into_iter().map(|(_, message)| message).collect())
    }

    /// Returns the oldest messages of a period that the caller may read, oldest first. Both ends are included.
    ///
    /// # Errors
    /// When the session does not exist for the caller, the period ends before it begins, or the limit is out of range.
    pub async fn session_messages_between(
        &self,
        caller: &Caller,
        session: &ContextSessionId,
        (from, to): (Timestamp, Timestamp),
        limit: Option<u32>,
    ) -> Result<Vec<SessionMessage>> {
        let limit = validate_limit(limit, 50, 200)?;
        if from > to {
            return Err(Refusal::invalid("end_time", "it is before start_time", "Exchange the two times.").into());
        }
        let mut connection = self.readers.acquire().await?;
        let (session, reader) = row::read_for(&mut connection, caller, session).await?;
        let found =
            row::messages(&mut connection, &session.id, &Part::Between(from, to), &row::audience_words(&reader, &session, None), (limit, 0)).await?;
        self.record_admin_read(caller, &session, found.iter().map(|(_, message)| message));
        Ok(found.into_iter().map(|(_, message)| message).collect())
    }

    /// Returns the word of the audience of each of these messages. A reader may read those with a word of its own audiences.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn session_audiences(&self, messages: &[i64]) -> Result<BTreeMap<i64, String>> {
        row::audiences_of(&mut *self.readers.acquire().await?, messages).await
    }

    /// Records that the owner of the board read private messages of others.
    async fn record_private_read(&self, caller: &Caller, session: &ContextSession, of_others: usize) -> Result<()> {
        if of_others == 0 {
            return Ok(());
        }
        let messages = u32::try_from(of_others).unwrap_or(u32::MAX);
        let (caller, project, session) = (caller.clone(), session.project_id.clone(), session.id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                write::record(tx, &caller, project.as_ref(), SessionEvent::PrivateRead { session, messages });
                Ok(())
            })
        })
        .await
    }
}

/// Returns how many items an answer skips.
pub(super) fn validate_offset(given: u32) -> Result<u32, GeneralRefusal> {
    if given <= MAX_OFFSET {
        return Ok(given);
    }
    let problem = format!("{given} is more than {MAX_OFFSET}");
    Err(GeneralRefusal::invalid("offset", problem, "Use the cursor of the last answer to read more."))
}
