//! A task changes: attention of its dependents, the status of its goal, rounds of orchestration, completion of the project, with which the
//! plans of managed agents and routine entries of the raid log end.
//!
//! Reads only neighbours of the task: a change costs the same on a board of ten tasks and of ten thousand.

use std::collections::BTreeSet;

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::board::project::{ProjectEvent, ProjectStatus, is_complete, round_due};
use domain::board::status::Status;
use domain::board::task::TaskFields;
use domain::id::{GoalId, ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use sqlx::Row;

use crate::board::attention::write as attention;
use crate::board::goal::write as goal;
use crate::board::task::row as tasks;
use crate::board::task::write::{NewTaskRow, insert};
use crate::caller::Caller;
use crate::engine::column::{json, optional, parsed};
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::warroom::battle_plan::write as battle_plan;
use crate::warroom::raid_log::write as raid_log;

/// The backlog tasks that a change of `$1` can block or unblock: itself and its dependents, one row for each of their dependencies.
pub(crate) const DEPENDENTS: &str = "SELECT t.id, t.attention, d.depends_on, target.status, target.cancel_reason
  FROM tasks t LEFT JOIN dependencies d ON d.task_id = t.id LEFT JOIN tasks target ON target.id = d.depends_on
  WHERE t.id IN (SELECT id FROM tasks WHERE id = $1 UNION SELECT task_id FROM dependencies WHERE depends_on = $1) AND t.status = 'backlog'
  ORDER BY length(t.id), t.id, d.depends_on";

/// One task of the project that is done, one that needs attention, and one that the runner may work on. These three decide whether the
/// project is complete. The tasks of oracles, at most one for each zone, do not count.
pub(crate) const COMPLETION: &str = "WHERE t.id IN (
    (SELECT id FROM tasks WHERE project_id = $1 AND status = 'done' AND phase <> 'oracle' LIMIT 1),
    (SELECT id FROM tasks WHERE project_id = $1 AND attention IS NOT NULL AND phase <> 'oracle' LIMIT 1),
    (SELECT id FROM tasks WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review')
       AND (held_by IS NULL OR held_by = 'plan') AND phase <> 'oracle' LIMIT 1))";

/// The newest child of a plan, one that is done and one of each open status. These decide whether a round is due.
pub(crate) const CHILDREN: &str = "WHERE t.id IN (
    (SELECT id FROM tasks WHERE parent_task_id = $1 ORDER BY length(id) DESC, id DESC LIMIT 1),
    (SELECT id FROM tasks WHERE parent_task_id = $1 AND status = 'done' LIMIT 1),
    (SELECT id FROM tasks WHERE parent_task_id = $1 AND status = 'backlog' LIMIT 1),
    (SELECT id FROM tasks WHERE parent_task_id = $1 AND status = 'in_progress' LIMIT 1),
    (SELECT id FROM tasks WHERE parent_task_id = $1 AND status = 'in_review' LIMIT 1))";

/// Applies the consequences of one changed task.
pub(crate) async fn task_changed(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId) -> Result<()> {
    tasks_changed(tx, caller, project, std::slice::from_ref(task)).await
}

/// Applies the consequences of changed tasks of one project.
pub(crate) async fn tasks_changed(tx: &mut Tx, caller: &Caller, project: &ProjectId, changed: &[TaskId]) -> Result<()> {
    let (mut goals, mut plans) = (BTreeSet::new(), BTreeSet::new());
    for task in changed {
        flag_blocked_dependents(tx, caller, project, task).await?;
        let card = tasks::outline(&mut tx.connection, task).await?;
        plans.extend((card.phase == AgentKind::Planner).then_some(card.id));
        plans.extend(card.parent_task_id);
        plans.extend(card.round_of);
        goals.extend(card.goal_id);
    }
    for goal in goals {
        goal::sync_status(tx, caller, &goal).await?;
    }
    for plan in plans {
        start_due_round(tx, &plan).await?;
    }
    update_project_status(tx, caller, project).await
}

/// Applies the consequences of linking `task` to another goal than `left`, or to none.
pub(crate) async fn goal_linked(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId, left: Option<&GoalId>) -> Result<()> {
    if let Some(left) = left {
        goal::sync_status(tx, caller, left).await?;
    }
    task_changed(tx, caller, project, task).await
}

/// A backlog task with its attention and the first of its cancelled dependencies.
struct Dependent {
    id: TaskId,
    attention: Option<Attention>,
    cancelled: Option<TaskId>,
}

/// Requests attention on each waiting task whose dependency was cancelled, and clears it once that is no longer so.
async fn flag_blocked_dependents(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId) -> Result<()> {
    for dependent in dependents(tx, task).await? {
        let wanted = dependent.cancelled.map(|target| {
            let detail = format!("{target}, a dependency, was cancelled. Remove the dependency, cancel this task too, or reopen {target}.");
            Attention::new(AttentionKind::DependencyCancelled, detail)
        });
        // Other attention on the task takes precedence.
        let other = dependent.attention.as_ref().is_some_and(|known| known.kind != AttentionKind::DependencyCancelled);
        if other || dependent.attention == wanted {
            continue;
        }
        match wanted {
            Some(wanted) => attention::request(tx, caller, project, &dependent.id, wanted).await?,
            None => attention::clear(tx, caller, project, &dependent.id).await?,
        }
    }
    Ok(())
}

async fn dependents(tx: &mut Tx, task: &TaskId) -> Result<Vec<Dependent>> {
    let mut dependents: Vec<Dependent> = Vec::new();
    for row in &sqlx::query(DEPENDENTS).bind(task.as_str()).fetch_all(&mut tx.connection).await? {
        let id: TaskId = parsed(row, "id")?;
        if dependents.last().is_none_or(|last| last.id != id) {
            dependents.push(Dependent { id, attention: json(row, "attention")?, cancelled: None });
        }
        let (Some(last), Some(status)) = (dependents.last_mut(), optional::<Status>(row, "status")?) else { continue };
        if last.cancelled.is_none() && status == Status::Cancelled && !status.satisfies_dependents(optional(row, "cancel_reason")?) {
            last.cancelled = Some(row.try_get::<&str, _>("depends_on")?.parse()?);
        }
    }
    Ok(dependents)
}

/// Starts a round of orchestration of a plan, if one is due.
async fn start_due_round(tx: &mut Tx, plan: &TaskId) -> Result<()> {
    let root = tasks::outline(&mut tx.connection, plan).await?;
    if root.phase != AgentKind::Planner || root.status != Status::Done {
        return Ok(());
    }
    let rounds = tasks::outlines(&mut tx.connection, "WHERE t.round_of = $1", plan.as_str()).await?;
    let children = tasks::outlines(&mut tx.connection, CHILDREN, plan.as_str()).await?;
    let (rounds, children): (Vec<&Card>, Vec<&Card>) = (rounds.iter().collect(), children.iter().collect());
    let Some(round) = round_due(&root, &children, &rounds, tx.max_rounds) else { return Ok(()) };
    let task = NewTaskRow {
        project: root.project_id,
        parent: None,
        fields: TaskFields {
            title: format!("Check the result: {}", root.title),
            description: Some(format!("Round {round}. Every task of {plan} is finished: judge the project branch as a whole.")),
            ..TaskFields::default()
        },
        phase: AgentKind::Orchestrator,
        status: Status::InProgress,
        held_by: None,
        round: Some((plan.clone(), round)),
    };
    insert(tx, &Caller::Runner, task).await.map(drop)
}

/// Completes the project when no work is left, and reopens it when there is.
async fn update_project_status(tx: &mut Tx, caller: &Caller, project: &ProjectId) -> Result<()> {
    let cards = tasks::outlines(&mut tx.connection, COMPLETION, project.as_str()).await?;
    // A round that was due is an open task by now.
    let complete = is_complete(&cards.iter().collect::<Vec<_>>(), false);
    let (wanted, event) =
        if complete { (ProjectStatus::Complete, ProjectEvent::Completed {}) } else { (ProjectStatus::Active, ProjectEvent::Reopened {}) };
    let changed = sqlx::query("UPDATE projects SET status = $2, updated_at = $3 WHERE id = $1 AND status <> $2")
        .bind(project.as_str())
        .bind(wanted.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    if changed.rows_affected() > 0 {
        tx.record_for_project(caller, project, event);
        if complete {
            // The session of its agents ends with the work.
            raid_log::remove_routine(tx, project).await?;
            battle_plan::complete_managed(tx, caller, project).await?;
        }
    }
    Ok(())
}
