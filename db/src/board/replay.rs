//! A part of the past of a project: the board before an event, and the events around it.
//!
//! The board is made from the last card of each task before that event, so its cost grows with the tasks that it shows, never with the log.

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::replay::{ReplayPart, ReplayStep};
use domain::event::sentence::sentence;
use domain::event::{Envelope, Seq};
use domain::id::ProjectId;
use sqlx::{Connection, Row, SqliteConnection};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::event_log;
use crate::engine::open::Db;
use crate::error::Result;

/// Events of a part before the wanted one, and after it.
const BEFORE: i64 = 100;
const AFTER: i64 = 100;
/// The newest tasks that a board of the past shows.
const MAX_TASKS: i64 = 2_000;

/// The ends of the log of project `$1`.
pub(crate) const RANGE: &str = "SELECT (SELECT seq FROM events WHERE project_id = $1 ORDER BY seq LIMIT 1) AS first,
  (SELECT seq FROM events WHERE project_id = $1 ORDER BY seq DESC LIMIT 1) AS last,
  EXISTS (SELECT 1 FROM checkpoints WHERE project_id = $1) AS begins_late";

/// The number of the event with which a part begins.
pub(crate) const BEGINNING: &str =
    "SELECT MIN(seq) FROM (SELECT seq FROM events WHERE project_id = $1 AND seq <= $2 ORDER BY seq DESC LIMIT $3) AS earlier";

/// The last card of each of the newest tasks before event `$2`, or the one of the removed events. It names its
/// index, because the one of all events of a task would be walked past each event without a card.
pub(crate) const CARDS: &str = "SELECT COALESCE(
    (SELECT e.payload ->> '$.card' FROM events e
     INDEXED BY events_with_card WHERE e.task_id = newest.id AND e.seq < $2 AND e.payload ->> '$.card' IS NOT NULL ORDER BY e.seq DESC LIMIT 1),
    (SELECT c.snapshot FROM checkpoints c WHERE c.project_id = $1 AND c.task_id = newest.id)) AS card
  FROM (SELECT id FROM tasks WHERE project_id = $1 ORDER BY length(id) DESC, id DESC LIMIT $3) AS newest";

impl Db {
    /// Returns the part of the past around an event, or around the last one.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn replay(&self, caller: &Caller, id: &ProjectId, at: Option<Seq>) -> Result<ReplayPart> {
        let mut connection = self.readers.acquire().await?;
        // One snapshot, so that no event is moved to the checkpoint between two reads.
        let mut snapshot = connection.begin().await?;
        let project = projects::read(&mut snapshot, id).await?;
        let range = sqlx::query(RANGE).bind(id.as_str()).fetch_one(&mut *snapshot).await?;
        let (first, last): (Option<Seq>, Option<Seq>) = (range.try_get("first")?, range.try_get("last")?);
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        let beginning: Option<Seq> =
            sqlx::query_scalar(BEGINNING).bind(id.as_str()).bind(at.unwrap_or(last)).bind(BEFORE).fetch_one(&mut *snapshot).await?;
        let beginning = beginning.unwrap_or(first);
        let found = event_log::of_project(&mut snapshot, id, beginning, BEFORE + AFTER).await?;
        let (cards, omitted) = cards(&mut snapshot, id, beginning).await?;
        let begins_late = range.try_get("begins_late")?;
        snapshot.rollback().await?;
        let step = |event: Envelope| ReplayStep { sentence: sentence(&event, &caller.actor()), event };
        let board = Board { project, cards, seq: beginning.saturating_sub(1), epoch: self.epoch().to_owned() };
        Ok(ReplayPart { board, steps: found.into_iter().map(step).collect(), first, last, begins_late, omitted })
    }
}

/// Reads the cards before an event, by id, and counts the older tasks that are left out.
async fn cards(connection: &mut SqliteConnection, id: &ProjectId, before: Seq) -> Result<(Vec<Card>, u32)> {
    let rows = sqlx::query(CARDS).bind(id.as_str()).bind(before).bind(MAX_TASKS).fetch_all(&mut *connection).await?;
    let mut cards = Vec::with_capacity(rows.len());
    for row in &rows {
        if let Some(card) = row.try_get::<Option<&str>, _>("card")? {
            cards.push(serde_json::from_str::<Card>(card)?);
        }
    }
    cards.sort_unstable_by_key(|card| card.id.number());
    let all: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tasks WHERE project_id = $1").bind(id.as_str()).fetch_one(connection).await?;
    Ok((cards, u32::try_from((all - MAX_TASKS).max(0)).unwrap_or(u32::MAX)))
}
