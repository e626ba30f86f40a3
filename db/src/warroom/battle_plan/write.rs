//! Writes battle plans. Must not decide who may.

use domain::id::{ProjectId, RunId, TaskId};
use domain::text::SUBTASKS;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanEvent, BattlePlanScope, BattlePlanStatus, of_tasks};

use super::row;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A plan to insert.
#[derive(Debug)]
pub(super) struct NewRow<'a> {
    pub(super) project: &'a ProjectId,
    pub(super) scope: BattlePlanScope,
    pub(super) zone: Option<&'a str>,
    pub(super) derived: bool,
    pub(super) plan: &'a str,
}

/// Makes a plan the active one of its scope, which ends the one before.
pub(super) async fn replace(tx: &mut Tx, caller: &Caller, new: NewRow<'_>, before: Option<&BattlePlan>) -> Result<BattlePlan> {
    if let Some(before) = before {
        end(tx, caller, before, BattlePlanStatus::Superseded).await?;
    }
    let row = sqlx::query(
        "INSERT INTO battle_plans (project_id, scope, zone, author, run_id, derived, plan, status, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'active', $8) RETURNING *",
    )
    .bind(new.project.as_str())
    .bind(new.scope.as_str())
    .bind(new.zone)
    .bind(caller.name().unwrap_or_default())
    .bind(caller.run().map(RunId::as_str))
    .bind(new.derived)
    .bind(new.plan)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    let plan = row::plan_of(&row)?;
    record(tx, caller, &plan.project_id, BattlePlanEvent::Set { plan: plan.id, scope: plan.scope, zone: plan.zone.clone() });
    Ok(plan)
}

/// Ends an active plan.
pub(super) async fn end(tx: &mut Tx, caller: &Caller, plan: &BattlePlan, status: BattlePlanStatus) -> Result<()> {
    sqlx::query("UPDATE battle_plans SET status = $2, ended_at = $3 WHERE id = $1")
        .bind(plan.id)
        .bind(status.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    record(tx, caller, &plan.project_id, BattlePlanEvent::Ended { plan: plan.id, status });
    Ok(())
}

/// Makes the open tasks of a planner the plan of the project, unless someone wrote one.
pub(crate) async fn follow_tasks(tx: &mut Tx, caller: &Caller, planning_task: &TaskId) -> Result<()> {
    let planner = tasks::task(&mut tx.connection, planning_task).await?;
    let project = &planner.card.project_id;
    let before = row::active(&mut tx.connection, project, BattlePlanScope::Project, None).await?;
    if before.as_ref().is_some_and(|before| !before.derived) {
        return Ok(());
    }
    let condition =
        format!("WHERE t.parent_task_id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review') ORDER BY length(t.id), t.id LIMIT {SUBTASKS}");
    let open = tasks::outlines(&mut tx.connection, &condition, planning_task.as_str()).await?;
    let plan = of_tasks(&planner.card.title, planner.description.as_deref(), open.iter().map(|card| (&card.id, card.title.as_str())));
    if before.as_ref().is_some_and(|before| before.plan == plan) {
        return Ok(());
    }
    let new = NewRow { project, scope: BattlePlanScope::Project, zone: None, derived: true, plan: &plan };
    replace(tx, caller, new, before.as_ref()).await.map(drop)
}

/// Completes the active plans of managed agents, which nobody else would end.
pub(crate) async fn complete_managed(tx: &mut Tx, caller: &Caller, project: &ProjectId) -> Result<()> {
    let rows = sqlx::query(row::OF_MANAGED).bind(project.as_str()).fetch_all(&mut tx.connection).await?;
    for found in &rows {
        end(tx, caller, &row::plan_of(found)?, BattlePlanStatus::Completed).await?;
    }
    Ok(())
}

/// Completes all active plans of a project at the end of a session. Returns their numbers.
pub(crate) async fn complete_all(tx: &mut Tx, caller: &Caller, project: &ProjectId) -> Result<Vec<i64>> {
    let rows = sqlx::query(row::ALL_ACTIVE).bind(project.as_str()).fetch_all(&mut tx.connection).await?;
    let plans = rows.iter().map(row::plan_of).collect::<Result<Vec<_>>>()?;
    for plan in &plans {
        end(tx, caller, plan, BattlePlanStatus::Completed).await?;
    }
    Ok(plans.iter().map(|plan| plan.id).collect())
}

fn record(tx: &mut Tx, caller: &Caller, project: &ProjectId, event: BattlePlanEvent) {
    tx.record_without_card(caller, project, None, event);
}
