//! The board: a project's open cards and newest finished ones, and the sequence number for which they are true.

use std::collections::BTreeMap;

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::{GoalId, ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use domain::wire::{BoardView, CardPage, OpenCards};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use crate::board::finished::row as finished;
use crate::board::project::row as projects;
use crate::board::task::row::{CARD, card_of, cards};
use crate::engine::column::{count, parsed};
use crate::engine::open::Db;
use crate::error::Result;

/// Finished cards of each status in the first answer.
const NEWEST: u32 = 50;

pub(crate) const OPEN_CARDS: &str = "WHERE t.project_id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review')";

/// The projects after `$1` with open tasks that are not archived. Reads the index of open tasks, and the projects by their id.
pub(crate) const OPEN_PROJECTS: &str = "SELECT DISTINCT +t.project_id AS project_id FROM tasks t
  WHERE t.status IN ('backlog', 'in_progress', 'in_review') AND +t.project_id > $1
    AND NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = t.project_id AND p.archived_at IS NOT NULL) ORDER BY 1";

pub(crate) const OPEN_COUNTS: &str = "SELECT t.status, COUNT(*) AS total FROM tasks t
  WHERE t.project_id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review') GROUP BY t.status";

/// A page of finished cards, newest first.
pub(crate) const FINISHED_PAGE: &str = "WHERE t.project_id = $1 AND t.status = $2 AND t.status IN ('done', 'cancelled')
  AND (t.updated_at, t.id) < ($3, $4) ORDER BY t.updated_at DESC, t.id DESC LIMIT $5";

/// Sorts after every time and id.
const NEWER_THAN_ALL: &str = "~";

impl Db {
    /// The open cards of a project and the newest finished ones, with sums over all that are finished.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn board(&self, id: &ProjectId) -> Result<BoardView> {
        let mut connection = self.readers.acquire().await?;
        // One snapshot for cards and sequence number, because an event between two reads would be missing in one of them.
        let mut snapshot = connection.begin().await?;
        let seq = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM events").fetch_one(&mut *snapshot).await?;
        let project = projects::read(&mut snapshot, id).await?;
        let mut loaded = cards(&mut snapshot, OPEN_CARDS, id.as_str()).await?;
        let mut finished = finished::read(&mut snapshot, id).await?;
        for (status, column) in [(Status::Done, &mut finished.done), (Status::Cancelled, &mut finished.cancelled)] {
            if column.total > 0 {
                let page = finished_page(&mut snapshot, id, status, None, NEWEST).await?;
                column.next = page.next;
                loaded.extend(page.items);
            }
        }
        snapshot.rollback().await?;
        loaded.sort_unstable_by_key(|card| card.id.number());
        Ok(BoardView { board: Board { project, cards: loaded, seq, epoch: self.epoch().to_owned() }, finished })
    }

    /// The open cards of all projects, or of those that follow an earlier page: whole projects until there are at least `limit` cards.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open_cards(&self, after: Option<&ProjectId>, limit: u32) -> Result<OpenCards> {
        let mut connection = self.readers.acquire().await?;
        // One snapshot for cards and sequence number, as for the board of a project.
        let mut snapshot = connection.begin().await?;
        let seq = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM events").fetch_one(&mut *snapshot).await?;
        let after = after.map_or("", ProjectId::as_str);
        let projects = sqlx::query(OPEN_PROJECTS).bind(after).fetch_all(&mut *snapshot).await?;
        let (mut items, mut next) = (Vec::new(), None);
        let mut last = None;
        for row in &projects {
            if items.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
                next = last;
                break;
            }
            let project: ProjectId = parsed(row, "project_id")?;
            items.extend(cards(&mut snapshot, OPEN_CARDS, project.as_str()).await?);
            last = Some(project);
        }
        snapshot.rollback().await?;
        Ok(OpenCards { items, seq, next })
    }

    /// At most `limit` finished cards of one status, newest first; with `before`, those that follow an earlier page.
    ///
    /// # Errors
    /// When the status is open, or `before` is not the cursor of a page.
    pub async fn finished_cards(&self, project: &ProjectId, status: Status, before: Option<&str>, limit: u32) -> Result<CardPage> {
        if status.is_open() {
            let hint = "Ask for done or cancelled; the board has every open card.";
            return Err(Refusal::invalid("status", format!("{status} cards have no pages"), hint).into());
        }
        let mut connection = self.readers.acquire().await?;
        finished_page(&mut connection, project, status, before, limit).await
    }
}

/// Filters the cards of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFilter {
    pub project: ProjectId,
    /// Cards of these statuses.
    pub statuses: Vec<Status>,
    /// Also cards that were cancelled because their assignee failed.
    pub or_failed: bool,
    /// Cards of this goal only.
    pub goal: Option<GoalId>,
    /// Cards assigned to exactly this agent only.
    pub assigned_to: Option<String>,
    /// Cards with higher ids than this one.
    pub after: Option<TaskId>,
    /// Maximum number of cards. The default is more than fits into one answer to an agent.
    pub limit: u32,
}

impl CardFilter {
    /// Every card of a project, from the first.
    pub fn of_project(project: ProjectId) -> Self {
        Self { project, statuses: Status::ALL.to_vec(), or_failed: false, goal: None, assigned_to: None, after: None, limit: 400 }
    }

    /// The open cards of a project, from the first.
    pub fn open(project: ProjectId) -> Self {
        Self { statuses: Status::ALL.iter().copied().filter(|status| status.is_open()).collect(), ..Self::of_project(project) }
    }

    /// Builds the SQL condition. Statuses are safe to insert, because they are a closed vocabulary.
    pub(crate) fn condition(&self) -> String {
        let mut further = String::new();
        if self.goal.is_some() {
            further += " AND goal_id = $2";
        }
        if self.assigned_to.is_some() {
            further += " AND assigned_to = $3";
        }
        let tasks = "SELECT id FROM tasks WHERE project_id = $1";
        let mut matching = format!("{tasks}{further}");
        // Without a condition on the status, a page is read in the order of an index.
        if self.statuses.len() < Status::ALL.len() {
            let statuses: Vec<String> = self.statuses.iter().map(|status| format!("'{status}'")).collect();
            matching = format!("{tasks} AND status IN ({}){further}", statuses.join(", "));
        }
        if self.or_failed {
            // Two reads, each by its index: a single condition would read every finished task.
            matching = format!("SELECT id FROM ({matching} UNION ALL {tasks} AND cancel_reason = 'failed'{further}) AS either WHERE TRUE");
        }
        format!("WHERE t.id IN ({matching} AND (length(id), id) > ($4, $5) ORDER BY length(id), id LIMIT $6) ORDER BY length(t.id), t.id")
    }
}

impl Db {
    /// Lists the cards that match a filter by id, up to its limit.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn cards(&self, filter: &CardFilter) -> Result<Vec<Card>> {
        let after = filter.after.as_ref().map_or("", TaskId::as_str);
        let rows = sqlx::query(AssertSqlSafe(format!("{CARD} {}", filter.condition())))
            .bind(filter.project.as_str())
            .bind(filter.goal.as_ref().map(GoalId::as_str))
            .bind(&filter.assigned_to)
            .bind(i64::try_from(after.len()).unwrap_or(i64::MAX))
            .bind(after)
            .bind(i64::from(filter.limit))
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(card_of).collect()
    }

    /// Counts the cards of a project by status. Reads the open ones only.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn card_counts(&self, project: &ProjectId) -> Result<BTreeMap<Status, u32>> {
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let open = sqlx::query(OPEN_COUNTS).bind(project.as_str()).fetch_all(&mut *snapshot).await?;
        let finished = finished::read(&mut snapshot, project).await?;
        snapshot.rollback().await?;
        let mut counts: BTreeMap<Status, u32> = open.iter().map(|row| Ok((parsed(row, "status")?, count(row, "total")?))).collect::<Result<_>>()?;
        counts
            .extend([(Status::Done, finished.done.total), (Status::Cancelled, finished.cancelled.total)].into_iter().filter(|(_, total)| *total > 0));
        Ok(counts)
    }

    /// Whether any task of a project was merged.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn has_merged_work(&self, project: &ProjectId) -> Result<bool> {
        let mut connection = self.readers.acquire().await?;
        Ok(finished::read(&mut connection, project).await?.done.merged > 0)
    }
}

async fn finished_page(connection: &mut SqliteConnection, project: &ProjectId, status: Status, before: Option<&str>, limit: u32) -> Result<CardPage> {
    let (updated_at, id) = before.map_or(Ok((NEWER_THAN_ALL, NEWER_THAN_ALL)), parse_cursor)?;
    let rows = sqlx::query(AssertSqlSafe(format!("{CARD} {FINISHED_PAGE}")))
        .bind(project.as_str())
        .bind(status.as_str())
        .bind(updated_at)
        .bind(id)
        // Reads one more than it returns, to find out whether another page follows.
        .bind(i64::from(limit) + 1)
        .fetch_all(connection)
        .await?;
    let mut items = rows.iter().map(card_of).collect::<Result<Vec<Card>>>()?;
    let is_last = items.len() <= usize::try_from(limit).unwrap_or(usize::MAX);
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = items.last().filter(|_| !is_last).map(|card| format!("{}_{}", card.updated_at, card.id));
    Ok(CardPage { items, next })
}

/// The time and id of the last card of a page.
fn parse_cursor(cursor: &str) -> Result<(&str, &str), Refusal> {
    let parts = cursor.split_once('_').filter(|(at, id)| at.parse::<Timestamp>().is_ok() && id.parse::<TaskId>().is_ok());
    parts.ok_or_else(|| Refusal::invalid("before", "it is not the cursor of a page", "Omit it, or use `next` of the previous page."))
}
