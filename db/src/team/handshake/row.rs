//! Reads handshakes, and when their unreachable targets count as unresponsive. Must not change anything.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::Health;
use domain::team::handshake::{Handshake, HandshakeTarget};
use domain::time::Timestamp;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::engine::presence::Presence;
use crate::error::Result;
use crate::runs::pause::row as pause;
use crate::runs::pause::row::Pause;
use crate::team::agent::row::roster::Roster;

/// The pending handshakes of all projects, with one row for each target that has not acknowledged.
pub(crate) const PENDING: &str = "SELECT h.id, h.project_id, h.created_at, a.agent_name, p.paused_at, p.archived_at, p.resumed_at
  FROM handshakes h JOIN projects p ON p.id = h.project_id
  LEFT JOIN handshake_acks a ON a.handshake_id = h.id AND a.acked_at IS NULL AND a.left_at IS NULL
  WHERE h.status = 'pending' ORDER BY h.project_id, h.id, a.agent_name";

/// Lists the handshakes whose pending targets are all unreachable, with the time when the last of them counts as unresponsive. Those of
/// paused projects wait, and no time in a pause counts. `all` is the pause of all projects.
pub(crate) async fn pending_with_deadline(
    connection: &mut SqliteConnection,
    presence: &Presence,
    all: Pause,
    now: Timestamp,
) -> Result<Vec<(i64, Timestamp)>> {
    let rows = sqlx::query(PENDING).fetch_all(&mut *connection).await?;
    let (mut unanswered, mut known) = (Vec::new(), None::<Roster>);
    for targets in rows.chunk_by(|one, next| one.get::<i64, _>("id") == next.get::<i64, _>("id")) {
        let Some(row) = targets.first() else { continue };
        let pause = pause::of_project(row)?.and(all);
        if pause.paused_at.is_some() {
            continue;
        }
        let (project, asked): (ProjectId, Timestamp) = (parsed(row, "project_id")?, parsed(row, "created_at")?);
        let roster = match known.take().filter(|roster| roster.project == project) {
            Some(roster) => roster,
            None => Roster::load_at(connection, presence, &project, now).await?,
        };
        let names = targets.iter().map(|target| target.try_get::<Option<&str>, _>("agent_name")).collect::<Result<Vec<_>, _>>()?;
        let deadline = unresponsive_at(asked, names.into_iter().flatten(), &roster);
        let earliest = pause.resumed_at.map(|resumed| resumed.after(Health::DEAD_AFTER));
        unanswered.extend(deadline.map(|at| (row.get::<i64, _>("id"), earliest.map_or(at, |earliest| earliest.max(at)))));
        known = Some(roster);
    }
    Ok(unanswered)
}

/// When the last of the pending targets, asked at `asked`, counts as unresponsive. `None` while one of them is reachable.
pub(crate) fn unresponsive_at<'name>(asked: Timestamp, mut pending: impl Iterator<Item = &'name str>, roster: &Roster) -> Option<Timestamp> {
    pending.try_fold(asked, |latest, name| Some(latest.max(roster.unresponsive_at(name, asked)?)))
}

pub(crate) async fn read(connection: &mut SqliteConnection, id: i64) -> Result<Handshake> {
    let row = sqlx::query("SELECT * FROM handshakes WHERE id = $1").bind(id).fetch_optional(&mut *connection).await?;
    let row = row.ok_or_else(|| Refusal::not_found("handshake", id))?;
    let acks = sqlx::query("SELECT * FROM handshake_acks WHERE handshake_id = $1 ORDER BY agent_name").bind(id).fetch_all(connection).await?;
    let targets = acks.iter().map(|ack| {
        Ok(HandshakeTarget {
            agent_name: ack.try_get("agent_name")?,
            acked_at: optional(ack, "acked_at")?,
            left: ack.try_get::<Option<&str>, _>("left_at")?.is_some(),
        })
    });
    Ok(Handshake {
        id,
        project_id: parsed(&row, "project_id")?,
        initiated_by: row.try_get("initiated_by")?,
        message: row.try_get("content")?,
        status: parsed(&row, "status")?,
        targets: targets.collect::<Result<_>>()?,
        created_at: parsed(&row, "created_at")?,
        completed_at: optional(&row, "completed_at")?,
    })
}
