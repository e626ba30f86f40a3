//! Knowledge: what agents confirmed, the traps that they met, and their notes. Nothing is deleted.
//!
//! Rows are the truth. The files below `.dead-drop/` and their history are made from them, and must not be read back.

pub(crate) mod files;
pub(crate) mod row;
pub(crate) mod write;

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::warroom::knowledge::refusal::KnowledgeRefusal;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgeState, NewClosing, NewKnowledge, notes_with, topic};
use serde::{Deserialize, Serialize};

use self::write::Text;
use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::team::participant::row as participant;

/// The most items that one list returns.
const MAX_ITEMS: u32 = 100;

/// The knowledge of a project that a call asks for, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnowledgeQuery {
    pub kind: Option<KnowledgeKind>,
    pub state: Option<KnowledgeState>,
    /// Only items before this one.
    pub before: Option<i64>,
    /// At most 100, which is the default.
    pub limit: Option<u32>,
}

/// The items that a reader got, which now count as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgeRead {
    pub items: Vec<Knowledge>,
    /// Items that the reader still has not read, at most [`domain::warroom::knowledge::MAX_LIVE`].
    pub unread: u64,
}

impl Db {
    /// Writes intel or a trap: a new one, or a new version of the live one with this topic. The same text again changes nothing.
    ///
    /// # Errors
    /// When the caller has not registered, the text is a hunch or without evidence, or there is too much live knowledge.
    pub async fn write_knowledge(&self, caller: &Caller, project: &ProjectId, new: NewKnowledge) -> Result<Knowledge> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                participant::load(&mut tx.connection, caller, &project).await?;
                let new = checked(new)?;
                let live = row::live(&mut tx.connection, &project, new.kind, &new.topic).await?;
                let text = Text { kind: new.kind, topic: &new.topic, body: &new.body, evidence: Some(&new.evidence), paths: &new.paths };
                if let Some(same) = live.as_ref().filter(|live| text.is_of(live)) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(same.clone());
                }
                write::put(tx, caller, &project, live.as_ref(), text).await
            })
        })
        .await
    }

    /// Adds to the caller's own notes, or replaces them.
    ///
    /// # Errors
    /// When the caller has not registered, or the notes become too long.
    pub async fn write_note(&self, caller: &Caller, project: &ProjectId, content: &str, replace: bool) -> Result<Knowledge> {
        let (project, content) = (project.clone(), content.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let name = participant::load(&mut tx.connection, caller, &project).await?.name;
                let live = row::live(&mut tx.connection, &project, KnowledgeKind::Note, &name).await?;
                let body = notes_with(live.as_ref().map(|live| live.body.as_str()), &content, replace)?;
                let text = Text { kind: KnowledgeKind::Note, topic: &name, body: &body, evidence: None, paths: &[] };
                write::put(tx, caller, &project, live.as_ref(), text).await
            })
        })
        .await
    }

    /// Archives live intel, or resolves a live trap. Every participant may: the one that finds it out writes it down.
    ///
    /// # Errors
    /// When it is not live, the caller has not registered, or the reason is a hunch or without evidence.
    pub async fn close_knowledge(
        &self,
        caller: &Caller,
        project: &ProjectId,
        kind: KnowledgeKind,
        given: &str,
        new: NewClosing,
    ) -> Result<Knowledge> {
        let (project, given) = (project.clone(), given.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                participant::load(&mut tx.connection, caller, &project).await?;
                let topic = topic(&given)?;
                let live = row::live(&mut tx.connection, &project, kind, &topic).await?;
                let live = live.ok_or(KnowledgeRefusal::NotLive { kind, topic })?;
                write::close(tx, caller, &live, &closing_of(&new)?).await
            })
        })
        .await
    }

    /// Archives or resolves the item with this number.
    ///
    /// # Errors
    /// When it does not exist, is a note or was closed before, or the reason is a hunch or without evidence.
    pub async fn close_knowledge_item(&self, caller: &Caller, id: i64, kind: KnowledgeKind, new: NewClosing) -> Result<Knowledge> {
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let item = row::read(&mut tx.connection, id).await?.filter(|item| item.kind == kind);
                let item = item.ok_or_else(|| Refusal::not_found(kind.as_str(), id))?;
                if caller.project().is_some_and(|own| *own != item.project_id) {
                    return Err(Refusal::not_found(kind.as_str(), id).into());
                }
                participant::load(&mut tx.connection, caller, &item.project_id).await?;
                if item.closed_at.is_some() {
                    return Err(KnowledgeRefusal::Closed { kind, topic: item.topic }.into());
                }
                write::close(tx, caller, &item, &closing_of(&new)?).await
            })
        })
        .await
    }

    /// Returns what the caller has to read and has not read, oldest first, as far as it fits; or the live items of one topic. They then count as read.
    ///
    /// # Errors
    /// When the caller has not registered, or nothing live has the topic.
    pub async fn read_knowledge(&self, caller: &Caller, project: &ProjectId, given: Option<&str>) -> Result<KnowledgeRead> {
        let (project, given) = (project.clone(), given.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let name = participant::load(&mut tx.connection, caller, &project).await?.name;
                let items = match given.as_deref().map(topic).transpose()? {
                    Some(topic) => {
                        let found = row::of_topic(&mut tx.connection, &project, &topic).await?;
                        if found.is_empty() {
                            return Err(KnowledgeRefusal::NotLive { kind: KnowledgeKind::Intel, topic }.into());
                        }
                        found
                    }
                    None => row::unread(&mut tx.connection, &project, &name).await?,
                };
                let items = write::read_fitting(tx, items, &name).await?;
                let unread = row::count_unread(&mut tx.connection, &project, &name).await?;
                tx.skip_event(NoEventReason::KnowledgeRead);
                Ok(KnowledgeRead { items, unread })
            })
        })
        .await
    }

    /// Returns how much an oracle has to read before it can send; 0 for all others.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unread_required_knowledge(&self, caller: &Caller) -> Result<u64> {
        let mut connection = self.readers.acquire().await?;
        match row::required_reader(&mut connection, caller).await? {
            Some((project, name)) => row::count_unread(&mut connection, &project, &name).await,
            None => Ok(0),
        }
    }

    /// Lists knowledge of a project, newest first.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn knowledge(&self, project: &ProjectId, query: &KnowledgeQuery) -> Result<Vec<Knowledge>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let limit = query.limit.unwrap_or(MAX_ITEMS).clamp(1, MAX_ITEMS);
        row::list(&mut connection, project, (query.kind, query.state), query.before.unwrap_or(i64::MAX), limit).await
    }
}

/// Returns new knowledge with its topic and its paths in their one form.
fn checked(new: NewKnowledge) -> Result<NewKnowledge> {
    new.require_bounded()?;
    let topic = topic(&new.topic)?;
    new.require_confirmed()?;
    Ok(NewKnowledge { topic, paths: new.claim_paths()?, ..new })
}

fn closing_of(new: &NewClosing) -> Result<String> {
    let text = new.text()?;
    new.require_confirmed()?;
    Ok(text)
}
