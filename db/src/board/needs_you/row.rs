//! Reads what needs the human. The cost grows with what is pending, never with what is finished. Must not change anything.

use std::collections::BTreeMap;

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::needs_you::{Decision, NeedsYouItem, NeedsYouList};
use domain::board::project::{Project, ProjectStatus};
use domain::board::wait_reason::WaitReason;
use domain::id::ProjectId;
use domain::runs::limit::LimitScope;
use domain::team::agent::HUMAN;
use domain::team::person::Right;
use domain::text::excerpt;
use domain::time::Timestamp;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::board::attention::row::NEEDING_ATTENTION;
use crate::board::project::row as projects;
use crate::board::question::row as questions;
use crate::board::task::row::{CARD, card_of};
use crate::caller::Caller;
use crate::engine::column::{count, optional, parsed};
use crate::error::Result;
use crate::runs::permission::row as permissions;

/// Characters of a message that the list shows.
const EXCERPT_CHARACTERS: usize = 300;

/// The plans that await approval.
pub(crate) const PLANS: &str = "SELECT project_id, COUNT(*) AS tasks, MAX(created_at) AS since FROM tasks
  WHERE status IN ('backlog', 'in_progress', 'in_review') AND status = 'backlog' AND held_by = 'plan' GROUP BY +project_id";

/// The merged tasks that wait to be landed.
pub(crate) const TO_LAND: &str = "SELECT project_id, to_land AS tasks FROM finished_sums WHERE status = 'done' AND to_land > 0";

/// The tasks that wait for a higher limit of their project or of the day.
pub(crate) const OVER_LIMIT: &str = "SELECT project_id, wait_reason, MIN(updated_at) AS since FROM tasks
  WHERE status IN ('backlog', 'in_progress', 'in_review') AND attention IS NULL AND wait_reason LIKE '{\"is\":\"over_limit\"%'
  GROUP BY +project_id, wait_reason";

/// The newest messages to `$1`, or to the owner and shared with `$1`, that were not read.
pub(crate) const MESSAGES: &str = "SELECT m.id, m.project_id, m.from_agent, m.content, m.task_id, m.created_at, t.title AS task_title
  FROM projects p CROSS JOIN deliveries d JOIN messages m ON m.id = d.message_id LEFT JOIN tasks t ON t.id = m.task_id
  WHERE d.project_id = p.id AND d.recipient = $1 AND d.read_at IS NULL AND m.to_agent IN ($1, $2) ORDER BY m.id DESC LIMIT 200";

/// Reads the list for a caller.
pub(crate) async fn read(connection: &mut SqliteConnection, caller: &Caller) -> Result<NeedsYouList> {
    let rows = sqlx::query(projects::CURRENT).fetch_all(&mut *connection).await?;
    let projects: BTreeMap<ProjectId, Project> =
        rows.iter().map(|row| projects::project_of(row).map(|project| (project.id.clone(), project))).collect::<Result<_>>()?;
    let mut items = Vec::new();
    for row in &sqlx::query(AssertSqlSafe(format!("{CARD} {NEEDING_ATTENTION}"))).fetch_all(&mut *connection).await? {
        of_card(connection, &card_of(row)?, &mut items).await?;
    }
    for row in &sqlx::query(PLANS).fetch_all(&mut *connection).await? {
        items.push(of_project(parsed(row, "project_id")?, parsed(row, "since")?, Decision::Plan { tasks: count(row, "tasks")? }));
    }
    for row in &sqlx::query(TO_LAND).fetch_all(&mut *connection).await? {
        let id: ProjectId = parsed(row, "project_id")?;
        let Some(project) = projects.get(&id).filter(|project| project.status == ProjectStatus::Complete && project.has_unlanded_work(true)) else {
            continue;
        };
        let land = Decision::Land { base_branch: project.base_branch.clone(), tasks: count(row, "tasks")? };
        items.push(of_project(id, project.merged_at.unwrap_or(project.updated_at), land));
    }
    for project in projects.values() {
        if let Some(problem) = project.fetch_problem.clone().filter(|_| project.profile.follow_base) {
            let decision = Decision::BaseNotFetched { base_branch: problem.base_branch, detail: problem.detail };
            items.push(of_project(project.id.clone(), problem.since, decision));
        }
        let Some(published) = &project.published else { continue };
        let (Some(status), Some(address)) = (&published.status, &published.pull_request) else { continue };
        if let Some(detail) = status.needs_you.clone() {
            items.push(of_project(project.id.clone(), project.updated_at, Decision::PullRequest { address: address.clone(), detail }));
        }
    }
    over_limits(connection, &mut items).await?;
    // A person who cannot acknowledge messages has none.
    if let Some(name) = caller.person(Right::Work, "reading messages").ok().and_then(|_| caller.name()) {
        messages(connection, &name, &mut items).await?;
    }
    // An archived project needs nobody until it is restored.
    items.retain(|item| item.project_id.as_ref().is_none_or(|id| projects.contains_key(id)));
    for item in &mut items {
        item.project_title = item.project_id.as_ref().and_then(|id| projects.get(id)).map(|project| project.title.clone());
    }
    Ok(NeedsYouList::of(items))
}

/// Adds what the attention of a task asks for: the question and each permission request in full.
async fn of_card(connection: &mut SqliteConnection, card: &Card, items: &mut Vec<NeedsYouItem>) -> Result<()> {
    let Some(attention) = &card.attention else { return Ok(()) };
    let item = |since, agent_waits, decision| NeedsYouItem {
        project_id: Some(card.project_id.clone()),
        project_title: None,
        task_id: Some(card.id.clone()),
        task_title: Some(card.title.clone()),
        since,
        agent_waits,
        decision,
    };
    match attention.kind {
        AttentionKind::NeedsInput => {
            if let Some(question) = questions::open(connection, &card.id).await? {
                items.push(item(question.asked_at, true, Decision::Question { question }));
            }
        }
        AttentionKind::Permission => {
            for request in permissions::open(connection, &card.id).await? {
                items.push(item(request.asked_at, true, Decision::of_permission(request)));
            }
        }
        _ => {
            let (decision, agent_waits) = Decision::of_attention(attention, card.status, card.approved_sha.as_ref());
            items.push(item(card.updated_at, agent_waits, decision));
        }
    }
    Ok(())
}

/// Adds the budgets of projects and of the day that are used up, each once.
async fn over_limits(connection: &mut SqliteConnection, items: &mut Vec<NeedsYouItem>) -> Result<()> {
    let mut day: Option<NeedsYouItem> = None;
    for row in &sqlx::query(OVER_LIMIT).fetch_all(connection).await? {
        let WaitReason::OverLimit { limit } = serde_json::from_str(row.try_get("wait_reason")?)? else { continue };
        let budget = Decision::Budget { scope: limit.scope, limit: Some(limit), detail: limit.sentence() };
        let item = of_project(parsed(row, "project_id")?, parsed(row, "since")?, budget);
        match limit.scope {
            LimitScope::Project if !items.iter().any(|known| known.project_id == item.project_id && is_budget_of(known, limit.scope)) => {
                items.push(item);
            }
            LimitScope::Day if day.as_ref().is_none_or(|known| item.since < known.since) => day = Some(NeedsYouItem { project_id: None, ..item }),
            LimitScope::Run | LimitScope::Task | LimitScope::Project | LimitScope::Day => {}
        }
    }
    items.extend(day);
    Ok(())
}

fn is_budget_of(item: &NeedsYouItem, wanted: LimitScope) -> bool {
    matches!(item.decision, Decision::Budget { scope, .. } if scope == wanted)
}

async fn messages(connection: &mut SqliteConnection, name: &str, items: &mut Vec<NeedsYouItem>) -> Result<()> {
    for row in &sqlx::query(MESSAGES).bind(name).bind(HUMAN).fetch_all(connection).await? {
        let excerpt = excerpt(row.try_get("content")?, EXCERPT_CHARACTERS);
        items.push(NeedsYouItem {
            project_id: Some(parsed(row, "project_id")?),
            project_title: None,
            task_id: optional(row, "task_id")?,
            task_title: row.try_get("task_title")?,
            since: parsed(row, "created_at")?,
            agent_waits: false,
            decision: Decision::Message { message: row.try_get("id")?, from: row.try_get("from_agent")?, excerpt },
        });
    }
    Ok(())
}

fn of_project(project: ProjectId, since: Timestamp, decision: Decision) -> NeedsYouItem {
    NeedsYouItem { project_id: Some(project), project_title: None, task_id: None, task_title: None, since, agent_waits: false, decision }
}
