//! Imports sessions and their messages. Must not know the other kinds of records.

use domain::context::import::ImportKind;
use domain::context::metadata::{Metadata, validate_metadata};
use domain::context::reader::Reader;
use domain::context::session::visibility::{Audience, Visibility};
use domain::context::session::{ContextSessionId, NewSessionMessage, SessionKind, validate_content};
use domain::text;
use domain::time::Timestamp;

use super::source::Record;
use super::write::{Target, Written, reference};
use crate::context::session::row as sessions;
use crate::context::session::write as session_write;
use crate::context::session::write::NewSessionRow;
use crate::engine::tx::Tx;
use crate::error::Result;

pub(super) struct SessionItem {
    id: Option<ContextSessionId>,
    purpose: String,
    metadata: Metadata,
    creator: String,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    is_active: bool,
}

impl SessionItem {
    /// # Errors
    /// Why it cannot be imported.
    pub(super) fn of(record: &Record) -> Result<Self, String> {
        let purpose = record.text("purpose").unwrap_or_default();
        let purpose = text::excerpt(&purpose.replace(char::is_control, " "), text::TITLE_BYTES / 4);
        Ok(Self {
            id: record.text("id").and_then(|id| id.parse().ok()),
            purpose: text::validate_title("purpose", &purpose).map_err(|error| error.to_string())?,
            metadata: validate_metadata(record.object("metadata")).map_err(|error| error.to_string())?,
            creator: record.text("created_by").unwrap_or_default(),
            created_at: record.time("created_at"),
            updated_at: record.time("updated_at"),
            is_active: record.flag("is_active"),
        })
    }
}

/// Writes a session under its own id, if that is valid and free.
pub(super) async fn write(tx: &mut Tx, target: &Target, item: SessionItem) -> Result<Written> {
    let creator = target.name(&item.creator);
    let now = tx.now;
    tx.now = item.created_at.unwrap_or(now).min(now);
    let own = match item.id {
        Some(id) if sessions::read(&mut tx.connection, &id).await.is_err() => Some(id),
        _ => None,
    };
    let is_renamed = own.is_none();
    let id = own.unwrap_or_else(|| ContextSessionId::new(rand::random()));
    let row = NewSessionRow { project: Some(&target.project), kind: SessionKind::Shared, task: None, purpose: &item.purpose, creator: &creator };
    session_write::insert_as(tx, &id, row, &item.metadata).await?;
    if !item.is_active {
        tx.now = item.updated_at.unwrap_or(now).min(now);
        session_write::close(tx, &id).await?;
    }
    let reference = id.to_string();
    Ok(if is_renamed { Written::Changed(reference.clone(), format!("its id is {reference} here")) } else { Written::As(reference) })
}

pub(super) struct MessageItem {
    session: String,
    sender: String,
    content: String,
    visibility: Visibility,
    metadata: Metadata,
    parent: Option<String>,
    at: Option<Timestamp>,
}

impl MessageItem {
    /// # Errors
    /// Why it cannot be imported.
    pub(super) fn of(record: &Record) -> Result<Self, String> {
        let content = record.text("content").unwrap_or_default();
        Ok(Self {
            session: record.text("session_id").unwrap_or_default(),
            sender: record.text("sender").unwrap_or_default(),
            content: validate_content(&content).map_err(|error| error.to_string())?.to_owned(),
            visibility: record.text("visibility").as_deref().unwrap_or("public").parse::<Visibility>().map_err(|error| error.to_string())?,
            metadata: validate_metadata(record.object("metadata")).map_err(|error| error.to_string())?,
            parent: record.text("parent_message_id"),
            at: record.time("timestamp"),
        })
    }
}

/// Writes a message with the audience that it has for its sender here.
pub(super) async fn write_message(tx: &mut Tx, target: &Target, item: MessageItem) -> Result<Written> {
    let Some(session) = reference::<ContextSessionId>(tx, target, ImportKind::Session, Some(&item.session)).await? else {
        return Ok(Written::Skipped(format!("its session {} was not imported", item.session)));
    };
    let session = sessions::read(&mut tx.connection, &session).await?;
    let parent = reference::<i64>(tx, target, ImportKind::SessionMessage, item.parent.as_deref()).await?;
    let sender = Reader::Agent { project: target.project.clone(), name: target.name(&item.sender), admin: false };
    let new = NewSessionMessage { content: item.content, visibility: Some(item.visibility), metadata: item.metadata, parent_message_id: parent };
    tx.now = item.at.unwrap_or(tx.now).min(tx.now);
    let audience = Audience::of_message(item.visibility, &sender);
    let message = session_write::insert_message(tx, &session, &sender, &audience, new).await?;
    let id = message.id.to_string();
    Ok(match item.parent {
        Some(parent) if message.parent_message_id.is_none() => Written::Changed(id, format!("its parent {parent} was not imported")),
        _ => Written::As(id),
    })
}
