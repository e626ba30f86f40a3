//! Reads the texts that a search compares. Must not rank them.

pub(crate) mod finding;

use std::collections::BTreeSet;

use domain::board::comment::AuthorRole;
use domain::board::search::SearchKind;
use domain::board::task::Submission;
use domain::context::memory::{MemoryOwner, searchable_text};
use domain::context::session::ContextSessionId;
use domain::id::{ProjectId, TaskId};
use domain::runs::run::Run;
use domain::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, QueryBuilder, Row, Sqlite, SqliteConnection};

use crate::engine::column::{json, optional, parsed};
use crate::engine::dialect::words_index::{self, MATCHING};
use crate::error::Result;

/// How many texts one expression yields, and how few of them call for a wider one.
pub(crate) const MAX_CANDIDATES: i64 = 150;
pub(crate) const FEW: usize = 10;
/// How many texts may hold a word that helps to find them.
pub(crate) const MAX_COMMON: i64 = 3_000;

/// The texts, named `d`, that a person may read: those of all projects, or of project `$2`; and of memory what has not expired at `$4`, or
/// nothing if that is missing. No other place decides it, and it stands before the limit, so that texts out of reach take no place.
const VISIBLE: &str = "($2 IS NULL OR d.project_id = $2) AND (d.kind <> 'memory' OR ($4 IS NOT NULL AND EXISTS
    (SELECT 1 FROM memories e WHERE e.id = CAST(d.reference AS INTEGER) AND (e.expires_at IS NULL OR e.expires_at > $4))))";

/// The newest visible texts that match the expression `$1`, at most `$3`.
pub(crate) fn candidates_sql() -> String {
    format!("SELECT d.id FROM ({MATCHING}) AS w JOIN search_documents d ON d.id = w.id WHERE {VISIBLE} ORDER BY w.id DESC LIMIT $3")
}

/// A text with what a result shows beside it.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) id: i64,
    pub(crate) kind: SearchKind,
    pub(crate) reference: String,
    pub(crate) project_id: ProjectId,
    pub(crate) project_title: String,
    pub(crate) task_id: Option<TaskId>,
    pub(crate) task_title: Option<String>,
    /// The context session of a finding.
    pub(crate) session_id: Option<ContextSessionId>,
    /// The key of an entry of memory.
    pub(crate) key: Option<String>,
    /// The text, without [`Self::title`].
    pub(crate) body: String,
    pub(crate) author: Option<String>,
    pub(crate) at: Timestamp,
}

impl Candidate {
    /// Returns the words above the text: the title of a task, or the key of an entry of memory.
    pub(crate) fn title(&self) -> Option<&str> {
        match self.kind {
            SearchKind::Task => self.task_title.as_deref(),
            SearchKind::Memory => self.key.as_deref(),
            SearchKind::Comment | SearchKind::Message | SearchKind::Run | SearchKind::Finding | SearchKind::Log => None,
        }
    }
}

/// Returns the expressions that find candidates, from the narrowest to the widest. Each of `counted` is the expression of one word of the query
/// with the number of its texts. Common words are left out unless there are no others.
pub(crate) fn expressions(mut counted: Vec<(i64, String)>) -> Vec<String> {
    counted.retain(|(count, _)| *count > 0);
    counted.sort();
    if counted.first().is_some_and(|(count, _)| *count <= MAX_COMMON) {
        counted.retain(|(count, _)| *count <= MAX_COMMON);
    }
    let groups: Vec<&str> = counted.iter().map(|(_, group)| group.as_str()).collect();
    let mut expressions = vec![groups.join(" AND ")];
    if let [one, two, three, ..] = groups.as_slice() {
        expressions.push(format!("({one} AND {two}) OR ({one} AND {three}) OR ({two} AND {three})"));
    }
    expressions.extend(groups.iter().take(2).filter(|_| groups.len() > 1).map(|group| (*group).to_owned()));
    expressions.retain(|expression| !expression.is_empty());
    expressions
}

/// Finds the texts to compare. Each of `groups` is the expression of one word of the query. Memory is among them if `memory_at` tells when it
/// must not have expired.
pub(crate) async fn candidates(
    connection: &mut SqliteConnection,
    groups: &[String],
    project: Option<&ProjectId>,
    memory_at: Option<Timestamp>,
) -> Result<BTreeSet<i64>> {
    let counts = words_index::count(connection, groups, MAX_COMMON + 1).await?;
    let counted = counts.into_iter().zip(groups.iter().cloned()).collect();
    let memory_at = memory_at.map(|at| at.to_string());
    matching(connection, &candidates_sql(), expressions(counted), project, memory_at.as_deref()).await
}

/// Runs a statement for one expression after the other until there are enough candidates.
async fn matching(
    connection: &mut SqliteConnection,
    sql: &str,
    expressions: Vec<String>,
    project: Option<&ProjectId>,
    visible: Option<&str>,
) -> Result<BTreeSet<i64>> {
    let mut found = BTreeSet::new();
    for expression in expressions {
        if found.len() >= FEW {
            break;
        }
        let ids: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .bind(expression)
            .bind(project.map(ProjectId::as_str))
            .bind(MAX_CANDIDATES)
            .bind(visible)
            .fetch_all(&mut *connection)
            .await?;
        found.extend(ids);
    }
    Ok(found)
}

/// The texts with their places, each found by a key.
pub(crate) const TEXTS: &str = "SELECT d.id, d.kind, d.reference, d.project_id, p.title AS project_title, d.task_id, t.title AS task_title,
    t.description, t.result, CASE d.kind WHEN 'task' THEN (SELECT content FROM task_results WHERE task_results.task_id = t.id ORDER BY task_results.id DESC LIMIT 1) END AS left_behind,
    COALESCE(c.content, m.content, r.error, l.entry) AS content, t.created_by, c.author_role, c.author_name, m.from_agent, r.phase,
    e.key, e.value, e.owner, l.author, COALESCE(c.created_at, m.created_at, r.completed_at, e.updated_at, l.created_at, t.created_at) AS at
  FROM search_documents d JOIN projects p ON p.id = d.project_id LEFT JOIN tasks t ON t.id = d.task_id
    LEFT JOIN comments c ON d.kind = 'comment' AND c.id = d.reference
    LEFT JOIN messages m ON d.kind = 'message' AND m.id = CAST(d.reference AS INTEGER)
    LEFT JOIN agent_runs r ON d.kind = 'run' AND r.id = d.reference
    LEFT JOIN memories e ON d.kind = 'memory' AND e.id = CAST(d.reference AS INTEGER)
    LEFT JOIN raid_log l ON d.kind = 'log' AND l.id = CAST(d.reference AS INTEGER)
  WHERE d.id IN ";

pub(crate) async fn read(connection: &mut SqliteConnection, ids: &BTreeSet<i64>) -> Result<Vec<Candidate>> {
    rows(connection, TEXTS, ids).await?.iter().map(candidate_of).collect()
}

/// Reads the rows of a statement that ends with the list of ids.
async fn rows(connection: &mut SqliteConnection, sql: &str, ids: &BTreeSet<i64>) -> Result<Vec<SqliteRow>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query: QueryBuilder<Sqlite> = QueryBuilder::new(sql);
    query.push_tuples(ids, |mut row, id| {
        row.push_bind(id);
    });
    Ok(query.build().fetch_all(connection).await?)
}

fn candidate_of(row: &SqliteRow) -> Result<Candidate> {
    let (kind, task_id): (SearchKind, Option<TaskId>) = (parsed(row, "kind")?, optional(row, "task_id")?);
    let author: Option<String> = match kind {
        SearchKind::Task => row.try_get("created_by")?,
        SearchKind::Comment => {
            let role: Option<AuthorRole> = optional(row, "author_role")?;
            let name: Option<&str> = row.try_get("author_name")?;
            role.map(|role| role.with_name(name))
        }
        SearchKind::Message => row.try_get("from_agent")?,
        SearchKind::Run => optional(row, "phase")?.zip(task_id.as_ref()).map(|(phase, task)| Run::agent_name(phase, task)),
        SearchKind::Memory => row.try_get::<Option<&str>, _>("owner")?.map(|owner| MemoryOwner::name_of(owner).to_owned()),
        SearchKind::Log => row.try_get("author")?,
        SearchKind::Finding => None,
    };
    let body = match kind {
        SearchKind::Task => task_body(row.try_get("description")?, row.try_get("result")?, row.try_get("left_behind")?),
        SearchKind::Memory => json(row, "value")?.map(|value| searchable_text(&value)).unwrap_or_default(),
        SearchKind::Comment | SearchKind::Message | SearchKind::Run | SearchKind::Finding | SearchKind::Log => {
            row.try_get::<Option<String>, _>("content")?.unwrap_or_default()
        }
    };
    Ok(Candidate {
        id: row.try_get("id")?,
        kind,
        reference: row.try_get("reference")?,
        project_id: parsed(row, "project_id")?,
        project_title: row.try_get("project_title")?,
        task_id,
        task_title: row.try_get("task_title")?,
        session_id: None,
        key: row.try_get("key")?,
        body,
        author,
        at: parsed(row, "at")?,
    })
}

/// The text of a task below its title: its description, the summary of its submission, and the result that was left behind.
pub(crate) fn task_body(description: Option<&str>, result: Option<&str>, left: Option<&str>) -> String {
    let submission = result.and_then(|result| serde_json::from_str::<Submission>(result).ok());
    let result = submission.as_ref().map(|submission| submission.summary.as_str()).or(result);
    description.into_iter().chain(result).chain(left).collect::<Vec<_>>().join("\n\n")
}
