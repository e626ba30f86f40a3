//! Reads knowledge by index, and refuses oracles that have not read it. Live items are at most
//! [`domain::warroom::knowledge::MAX_LIVE`]; closed ones cost only who asks for them. Must not change anything.

use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::warroom::knowledge::refusal::KnowledgeRefusal;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgeState};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::caller::{AgentCaller, Caller};
use crate::engine::column::{optional, parsed};
use crate::engine::tx::Tx;
use crate::error::Result;

/// The live item of a project `$1` with the kind `$2` and the topic `$3`.
pub(crate) const LIVE: &str = "SELECT * FROM knowledge WHERE project_id = $1 AND kind = $2 AND topic = $3 AND closed_at IS NULL";
/// The live intel and trap of a project `$1` with the topic `$2`.
pub(crate) const OF_TOPIC: &str =
    "SELECT * FROM knowledge WHERE project_id = $1 AND kind IN ('intel', 'trap') AND topic = $2 AND closed_at IS NULL ORDER BY id";
/// All live items of a project `$1` with the kind `$2`, newest first.
pub(crate) const LIVE_OF_KIND: &str = "SELECT * FROM knowledge WHERE project_id = $1 AND kind = $2 AND closed_at IS NULL ORDER BY id DESC";
/// How many live items a project `$1` has.
pub(crate) const COUNT_LIVE: &str = "SELECT COUNT(*) FROM knowledge WHERE project_id = $1 AND closed_at IS NULL";
/// Live intel and traps of a project `$1` in a version that `$2` has not read.
const NOT_READ: &str = "FROM knowledge k WHERE k.project_id = $1 AND k.kind IN ('intel', 'trap') AND k.closed_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM knowledge_read r WHERE r.knowledge_id = k.id AND r.reader = $2 AND r.version >= k.version)";
/// The most items that one reading considers; their bodies limit it further.
const MAX_UNREAD: u32 = 20;
/// Whether an external agent `$2` of a project `$1` is an oracle.
const IS_ORACLE: &str = "SELECT 1 FROM agents WHERE project_id = $1 AND name = $2 AND left_at IS NULL AND class = 'oracle'";

pub(crate) fn unread_sql() -> String {
    format!("SELECT k.* {NOT_READ} ORDER BY k.id LIMIT {MAX_UNREAD}")
}

pub(crate) fn count_unread_sql() -> String {
    format!("SELECT COUNT(*) {NOT_READ}")
}

fn unread_topics_sql() -> String {
    format!("SELECT k.topic {NOT_READ} ORDER BY k.id")
}

/// Returns the page of a project `$1` before the item `$2`, at most `$3`; of one kind or state if they are given. Each pair of them is one walk
/// through an index, which ends after as many items as the answer can have.
pub(crate) fn page_sql(kind: Option<KnowledgeKind>, state: Option<KnowledgeState>) -> String {
    let kinds = KnowledgeKind::ALL.iter().copied().filter(|one| kind.is_none_or(|kind| kind == *one));
    let walks = kinds.flat_map(|kind| {
        let states = KnowledgeState::ALL.iter().copied().filter(|one| state.is_none_or(|state| state == *one));
        states.map(move |state| {
            let is_null = if state == KnowledgeState::Live { "IS NULL" } else { "IS NOT NULL" };
            format!(
                "SELECT id FROM (SELECT id FROM knowledge WHERE project_id = $1 AND kind = '{kind}' AND closed_at {is_null} AND id < $2
                 ORDER BY id DESC LIMIT $3)"
            )
        })
    });
    let walks = walks.collect::<Vec<_>>().join(" UNION ALL ");
    format!("SELECT k.* FROM (SELECT id FROM ({walks}) ORDER BY id DESC LIMIT $3) AS w JOIN knowledge k ON k.id = w.id ORDER BY k.id DESC")
}

pub(super) async fn list(
    connection: &mut SqliteConnection,
    project: &ProjectId,
    (kind, state): (Option<KnowledgeKind>, Option<KnowledgeState>),
    before: i64,
    limit: u32,
) -> Result<Vec<Knowledge>> {
    let sql = AssertSqlSafe(page_sql(kind, state));
    let rows = sqlx::query(sql).bind(project.as_str()).bind(before).bind(limit).fetch_all(connection).await?;
    rows.iter().map(knowledge_of).collect()
}

pub(super) async fn read(connection: &mut SqliteConnection, id: i64) -> Result<Option<Knowledge>> {
    sqlx::query("SELECT * FROM knowledge WHERE id = $1").bind(id).fetch_optional(connection).await?.as_ref().map(knowledge_of).transpose()
}

pub(super) async fn live(connection: &mut SqliteConnection, project: &ProjectId, kind: KnowledgeKind, topic: &str) -> Result<Option<Knowledge>> {
    let query = sqlx::query(LIVE).bind(project.as_str()).bind(kind.as_str()).bind(topic);
    query.fetch_optional(connection).await?.as_ref().map(knowledge_of).transpose()
}

pub(super) async fn of_topic(connection: &mut SqliteConnection, project: &ProjectId, topic: &str) -> Result<Vec<Knowledge>> {
    let rows = sqlx::query(OF_TOPIC).bind(project.as_str()).bind(topic).fetch_all(connection).await?;
    rows.iter().map(knowledge_of).collect()
}

pub(crate) async fn live_of_kind(connection: &mut SqliteConnection, project: &ProjectId, kind: KnowledgeKind) -> Result<Vec<Knowledge>> {
    let rows = sqlx::query(LIVE_OF_KIND).bind(project.as_str()).bind(kind.as_str()).fetch_all(connection).await?;
    rows.iter().map(knowledge_of).collect()
}

pub(super) async fn count_live(connection: &mut SqliteConnection, project: &ProjectId) -> Result<i64> {
    Ok(sqlx::query_scalar(COUNT_LIVE).bind(project.as_str()).fetch_one(connection).await?)
}

/// Lists what a participant has not read, oldest first.
pub(crate) async fn unread(connection: &mut SqliteConnection, project: &ProjectId, reader: &str) -> Result<Vec<Knowledge>> {
    let rows = sqlx::query(AssertSqlSafe(unread_sql())).bind(project.as_str()).bind(reader).fetch_all(connection).await?;
    rows.iter().map(knowledge_of).collect()
}

pub(super) async fn count_unread(connection: &mut SqliteConnection, project: &ProjectId, reader: &str) -> Result<u64> {
    let count: i64 = sqlx::query_scalar(AssertSqlSafe(count_unread_sql())).bind(project.as_str()).bind(reader).fetch_one(connection).await?;
    Ok(u64::try_from(count).unwrap_or_default())
}

/// Returns the project and the name of a caller that has to read knowledge before it sends: an oracle.
pub(super) async fn required_reader(connection: &mut SqliteConnection, caller: &Caller) -> Result<Option<(ProjectId, String)>> {
    match caller {
        Caller::Run(run) if run.phase == AgentKind::Oracle => Ok(Some((run.project_id.clone(), Run::agent_name(run.phase, &run.task_id)))),
        Caller::Agent(AgentCaller { project_id, name, .. }) => {
            let found: Option<i64> = sqlx::query_scalar(IS_ORACLE).bind(project_id.as_str()).bind(name).fetch_optional(connection).await?;
            Ok(found.map(|_| (project_id.clone(), name.clone())))
        }
        Caller::Person(_) | Caller::Runner | Caller::Run(_) | Caller::Invite(_) => Ok(None),
    }
}

/// Refuses an agent of the class oracle that has not read all live intel and traps. Stale answers mislead those who ask it.
pub(crate) async fn require_read(tx: &mut Tx, caller: &Caller) -> Result<()> {
    let Some((project, name)) = required_reader(&mut tx.connection, caller).await? else { return Ok(()) };
    let query = sqlx::query_scalar(AssertSqlSafe(unread_topics_sql())).bind(project.as_str()).bind(&name);
    let topics: Vec<String> = query.fetch_all(&mut tx.connection).await?;
    if topics.is_empty() { Ok(()) } else { Err(KnowledgeRefusal::Unread { topics }.into()) }
}

pub(crate) fn knowledge_of(row: &SqliteRow) -> Result<Knowledge> {
    Ok(Knowledge {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        kind: parsed(row, "kind")?,
        topic: row.try_get("topic")?,
        body: row.try_get("body")?,
        evidence: row.try_get("evidence")?,
        paths: serde_json::from_str(row.try_get("paths")?)?,
        author: row.try_get("author")?,
        run_id: optional(row, "run_id")?,
        version: row.try_get("version")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
        closed_at: optional(row, "closed_at")?,
        closed_by: row.try_get("closed_by")?,
        closing: row.try_get("closing")?,
    })
}
