//! The history of a project, newest first. A page reads a bounded number of events, however long the log is.

use domain::actor::Actor;
use domain::board::activity::{Activity, Topic};
use domain::event::Seq;
use domain::event::sentence::DETAILS;
use domain::id::{ProjectId, TaskId};
use sqlx::{AssertSqlSafe, Row};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::event_log;
use crate::engine::open::Db;
use crate::error::Result;

/// How many events a page reads at most to find those that match.
const MAX_READ: i64 = 5_000;

/// Filters of a history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityQuery {
    pub task: Option<TaskId>,
    pub topic: Option<Topic>,
    /// Only events of this kind.
    pub kind: Option<String>,
    /// Only events of this actor.
    pub actor: Option<Actor>,
    /// Whether to include the kinds that only help to understand a run or a wait. The kind in `kind` is always included.
    pub details: bool,
    /// Only events before this one.
    pub before: Option<Seq>,
    pub limit: u32,
}

impl Db {
    /// Returns a page of the history of a project, newest first, and the value of `before` for the next page. A page can be short and still
    /// have a next one, if few of the events match.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn activity(&self, caller: &Caller, project: &ProjectId, query: &ActivityQuery) -> Result<(Vec<Activity>, Option<Seq>)> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let before = query.before.unwrap_or(Seq::MAX);
        let rows = sqlx::query(AssertSqlSafe(sql(query)))
            .bind(project.as_str())
            .bind(query.task.as_ref().map(TaskId::as_str))
            .bind(before)
            .bind(MAX_READ)
            .fetch_all(&mut *connection)
            .await?;
        let actor = query.actor.as_ref().map(Actor::to_string);
        let mut found: Vec<Seq> = Vec::new();
        let mut next = None;
        for row in &rows {
            let (seq, kind, by): (Seq, &str, &str) = (row.try_get("seq")?, row.try_get("kind")?, row.try_get("actor")?);
            if found.len() == query.limit as usize {
                next = found.last().copied();
                break;
            }
            let is_shown = query.kind.as_deref().map_or(query.details || !DETAILS.contains(&kind), |wanted| wanted == kind);
            let is_on_topic = query.topic.map_or(Ok(true), |topic| row.try_get("has_failure").map(|failed| Topic::of(kind, failed) == topic))?;
            if is_shown && is_on_topic && actor.as_deref().is_none_or(|wanted| wanted == by) {
                found.push(seq);
            }
        }
        if next.is_none() && rows.len() as i64 == MAX_READ {
            next = rows.last().map(|row| row.try_get("seq")).transpose()?;
        }
        let mut items = Vec::with_capacity(found.len());
        for seq in found {
            let page = event_log::page(&mut connection, seq - 1, Some(project), 1).await?;
            items.extend(page.iter().map(|envelope| Activity::of(envelope, &caller.actor())));
        }
        Ok((items, next))
    }
}

/// The newest events of a project or of its task, without their content. Only the end of an attempt is read further, for its topic.
pub(crate) fn sql(query: &ActivityQuery) -> String {
    let has_failure = if query.topic.is_some() { "kind = 'run_ended' AND payload ->> '$.event.failure' IS NOT NULL" } else { "0" };
    let about = if query.task.is_some() { "task_id = $2 AND +project_id = $1" } else { "project_id = $1" };
    format!("SELECT seq, kind, actor, {has_failure} AS has_failure FROM events WHERE {about} AND seq < $3 ORDER BY seq DESC LIMIT $4")
}
