//! Reads what a briefing contains, each part by index and bounded. Must not change anything.

use domain::id::ProjectId;
use domain::text::excerpt;
use domain::warroom::briefing::{KnowledgeTopic, MAX_ENTRIES, MAX_EXCERPT, MAX_TASKS, MAX_TOPICS};
use domain::warroom::party::PartyTask;
use domain::warroom::raid_log::{Priority, RaidLogEntry};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::engine::column::parsed;
use crate::error::Result;
use crate::warroom::raid_log::row as raid_log;

/// The open tasks of a project `$1`, those in progress or in review first, at most `$2`.
pub(crate) const OPEN_TASKS: &str = "SELECT id, title, status FROM tasks
    WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review') ORDER BY status = 'backlog', length(id), id LIMIT $2";
/// Those that are assigned to `$3`.
pub(crate) const ASSIGNED_TASKS: &str = "SELECT id, title, status FROM tasks
    WHERE project_id = $1 AND assigned_to = $3 AND status IN ('backlog', 'in_progress', 'in_review')
    ORDER BY status = 'backlog', length(id), id LIMIT $2";

/// The newest live traps of a project `$1`, at most `$3`; `$2` is the reader.
pub(crate) const TRAPS: &str = "SELECT kind, topic, substr(body, 1, 400) AS body FROM knowledge
    WHERE project_id = $1 AND kind = 'trap' AND closed_at IS NULL AND $2 <> '' ORDER BY id DESC LIMIT $3";
/// The newest live intel of a project `$1` that `$2` has not read, at most `$3`.
pub(crate) const INTEL: &str = "SELECT kind, topic, substr(body, 1, 400) AS body FROM knowledge k
    WHERE project_id = $1 AND kind = 'intel' AND closed_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM knowledge_read r WHERE r.knowledge_id = k.id AND r.reader = $2 AND r.version >= k.version)
    ORDER BY id DESC LIMIT $3";

/// Lists live traps, and intel that an agent has not read.
pub(super) async fn knowledge(connection: &mut SqliteConnection, project: &ProjectId, reader: &str) -> Result<Vec<KnowledgeTopic>> {
    let mut topics = Vec::new();
    for sql in [TRAPS, INTEL] {
        let rows = sqlx::query(sql).bind(project.as_str()).bind(reader).bind(MAX_TOPICS).fetch_all(&mut *connection).await?;
        for row in rows {
            let excerpt = excerpt(row.try_get("body")?, MAX_EXCERPT);
            topics.push(KnowledgeTopic { kind: parsed(&row, "kind")?, topic: row.try_get("topic")?, excerpt });
        }
    }
    Ok(topics)
}

/// Lists the open tasks of a project, or only those that are assigned to an agent.
pub(super) async fn open_tasks(connection: &mut SqliteConnection, project: &ProjectId, assignee: Option<&str>) -> Result<Vec<PartyTask>> {
    let query = sqlx::query(if assignee.is_some() { ASSIGNED_TASKS } else { OPEN_TASKS }).bind(project.as_str()).bind(MAX_TASKS);
    let query = match assignee {
        Some(name) => query.bind(name),
        None => query,
    };
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok(PartyTask { id: parsed(row, "id")?, title: row.try_get("title")?, status: parsed(row, "status")? })).collect()
}

/// Returns the newest entries of the raid log that change the work of others.
pub(crate) async fn newest_entries(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<RaidLogEntry>> {
    let priorities: Vec<Priority> = Priority::High.and_above().collect();
    let sql = AssertSqlSafe(raid_log::list_sql(&priorities, false));
    let rows = sqlx::query(sql).bind(project.as_str()).bind(i64::MAX).bind(MAX_ENTRIES).fetch_all(connection).await?;
    rows.iter().map(raid_log::entry_of).collect()
}
