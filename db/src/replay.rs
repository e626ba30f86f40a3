//! Replays a board from the log: the checkpoint of the removed events, then every kept event.
//!
//! Proves that the log alone is enough. Must not read the rows that answer requests.

use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::event::Seq;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use sqlx::{Connection, Row, SqliteConnection};

use crate::engine::event_log;
use crate::engine::open::Db;
use crate::error::{Error, Result};

/// Events read at once.
const PAGE: u32 = 500;

impl Db {
    /// Replays the log of a project, without its rows.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn replay_board(&self, id: &ProjectId) -> Result<Board> {
        let mut connection = self.readers.acquire().await?;
        // One snapshot, so that no event is moved to the checkpoint between two reads.
        let mut snapshot = connection.begin().await?;
        let (mut project, mut cards) = checkpoint(&mut snapshot, id).await?;
        let mut after: Seq = 0;
        let mut board: Option<Board> = None;
        loop {
            let page = event_log::page(&mut snapshot, after, Some(id), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for envelope in &page {
                if board.is_none()
                    && let Some(project) = project.take().or_else(|| envelope.project.clone())
                {
                    board = Some(Board { project, cards: std::mem::take(&mut cards), seq: 0, epoch: self.epoch().to_owned() });
                }
                if let Some(board) = &mut board {
                    board.apply(envelope);
                }
            }
        }
        let latest: Seq = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM events").fetch_one(&mut *snapshot).await?;
        snapshot.rollback().await?;
        let started = project.map(|project| Board { project, cards, seq: 0, epoch: self.epoch().to_owned() });
        let mut board = board.or(started).ok_or_else(|| Error::Refused(Refusal::not_found("project", id)))?;
        board.seq = latest;
        Ok(board)
    }
}

async fn checkpoint(connection: &mut SqliteConnection, id: &ProjectId) -> Result<(Option<Project>, Vec<Card>)> {
    let rows = sqlx::query("SELECT task_id, snapshot FROM checkpoints WHERE project_id = $1").bind(id.as_str()).fetch_all(connection).await?;
    let (mut project, mut cards) = (None, Vec::new());
    for row in &rows {
        let snapshot: &str = row.try_get("snapshot")?;
        if row.try_get::<&str, _>("task_id")?.is_empty() {
            project = Some(serde_json::from_str(snapshot)?);
        } else {
            cards.push(serde_json::from_str::<Card>(snapshot)?);
        }
    }
    cards.sort_by_key(|card| card.id.number());
    Ok((project, cards))
}
