//! Creates tasks: one by any participant that may, many by a planner, an orchestrator or a lead.

use domain::board::card::Card;
use domain::board::project::PlanApproval;
use domain::board::status::{HeldBy, Status};
use domain::board::task::{Dependency, NewSubtask, NewTask, Task};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::RunRefusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::text;
use domain::warroom::class::AgentClass;
use domain::warroom::class::refusal::ClassRefusal;

use crate::board::dependency::write as dependency;
use crate::board::goal::write as goal;
use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::board::task::row::{in_project, wrong_status};
use crate::board::task::write::assign::{assign_to, assignee};
use crate::board::task::write::{self as task_write, NewTaskRow, insert};
use crate::caller::{Caller, RunCaller};
use crate::consequences::task_changed::{task_changed, tasks_changed};
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row as agents;
use crate::team::participant::row::{self as participant, Participant};
use crate::warroom::battle_plan::{row as battle_plans, write as battle_plan};
use crate::warroom::lead::row as lead;
use crate::warroom::old_task::row as old_tasks;

impl Db {
    /// Creates one task. A task of the human or of an external agent is held until the human starts it, unless it has an assignee, which is
    /// notified, or the human asked to start it at once.
    ///
    /// # Errors
    /// When a text is invalid, a dependency is unknown or makes a cycle, the caller may not create tasks, an external agent that is not a
    /// lead names a parent or a goal, or is a lead without a battle plan, outside its zone or with unreviewed tasks of an ended session, or the
    /// assignee is not an active external agent or may not have the hat.
    pub async fn create_task(&self, caller: &Caller, project: &ProjectId, new: NewTask) -> Result<Task> {
        let project_id = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                require_can_create(caller, &project_id)?;
                let participant = participant::load(&mut tx.connection, caller, &project_id).await?;
                if matches!(caller, Caller::Agent(_)) && new.parent_task_id.is_some() {
                    participant.require_lead("adding to a plan")?;
                }
                if new.goal_id.is_some() {
                    participant.require_lead("linking tasks to goals")?;
                }
                require_class(tx, caller, &participant).await?;
                battle_plans::require(&mut tx.connection, caller, &participant, "creating tasks").await?;
                old_tasks::require_reviewed(&mut tx.connection, caller, &participant, "creating tasks").await?;
                let fields = new.fields()?;
                lead::require_planned(&mut tx.connection, &participant, &fields.files, "creating tasks").await?;
                let speaker = participant.name;
                let parent = match (caller, new.parent_task_id) {
                    // A managed agent always adds to its own plan.
                    (Caller::Run(run), None) => Some(plan_of(tx, run).await?),
                    (_, given) => given,
                };
                let is_held = match caller {
                    Caller::Person(_) => !new.start,
                    Caller::Agent(_) | Caller::Invite(_) => true,
                    Caller::Runner | Caller::Run(_) => false,
                };
                let mut held_by = (is_held && new.assigned_to.is_none()).then_some(HeldBy::Human);
                if let Some(parent) = &parent {
                    in_project(tx, &project_id, parent).await?;
                    if caller.run().is_some() {
                        let parent = tasks::card(&mut tx.connection, parent).await?;
                        require_open_plan(tx, caller, &parent).await?;
                        held_by = held_by_plan(tx, &parent).await?;
                    } else if held_by.is_some() && plan_awaits_approval(tx, parent).await? {
                        held_by = Some(HeldBy::Plan);
                    }
                }
                let row = NewTaskRow {
                    project: project_id.clone(),
                    parent,
                    fields,
                    phase: phase_of(new.phase)?,
                    status: Status::Backlog,
                    held_by,
                    round: None,
                };
                let id = insert(tx, caller, row).await?;
                if !new.depends_on.is_empty() {
                    dependency::set(tx, &project_id, &id, &new.depends_on).await?;
                }
                if let Some(name) = &new.assigned_to {
                    let to = assignee(tx, &project_id, &speaker, name).await?;
                    let card = tasks::card(&mut tx.connection, &id).await?;
                    assign_to(tx, caller, &speaker, &card, &to, new.role_hat).await?;
                } else if let Some(hat) = new.role_hat {
                    // It waits for the first assignee.
                    task_write::set_hat(tx, &id, hat).await?;
                }
                if let Some(goal) = &new.goal_id {
                    let card = tasks::card(&mut tx.connection, &id).await?;
                    goal::link(tx, caller, &card, Some(goal)).await?;
                }
                task_changed(tx, caller, &project_id, &id).await?;
                if let Caller::Run(run) = caller {
                    let plan = plan_of(tx, run).await?;
                    battle_plan::follow_tasks(tx, caller, &plan).await?;
                }
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Creates the tasks of a plan, all or none. They wait for their planning task and, with `plan_approval: ask`, for the human.
    ///
    /// # Errors
    /// When there are none or too many, the parent may not have children, a task is invalid, or an external agent is not a lead with a battle plan.
    pub async fn create_subtasks(&self, caller: &Caller, parent: &TaskId, new: Vec<NewSubtask>) -> Result<Vec<Task>> {
        let parent = parent.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                if new.is_empty() || new.len() > text::SUBTASKS {
                    return Err(Refusal::invalid(
                        "tasks",
                        format!("{} tasks were given", new.len()),
                        format!("Give 1 to {} tasks in one call.", text::SUBTASKS),
                    )
                    .into());
                }
                let parent = tasks::card(&mut tx.connection, &parent).await?;
                require_can_create(caller, &parent.project_id)?;
                require_open_plan(tx, caller, &parent).await?;
                let mut held_by = held_by_plan(tx, &parent).await?;
                if let Caller::Agent(_) = caller {
                    let participant = participant::load(&mut tx.connection, caller, &parent.project_id).await?;
                    participant.require_lead("creating many tasks at once")?;
                    battle_plans::require(&mut tx.connection, caller, &participant, "creating tasks").await?;
                    old_tasks::require_reviewed(&mut tx.connection, caller, &participant, "creating tasks").await?;
                    for part in &new {
                        lead::require_planned(&mut tx.connection, &participant, &part.fields()?.files, "creating tasks").await?;
                    }
                    held_by = held_by.or(Some(HeldBy::Human));
                }
                let mut ids = Vec::with_capacity(new.len());
                for part in &new {
                    let row = NewTaskRow {
                        project: parent.project_id.clone(),
                        parent: Some(parent.id.clone()),
                        fields: part.fields()?,
                        phase: phase_of(part.phase)?,
                        status: Status::Backlog,
                        held_by,
                        round: None,
                    };
                    ids.push(insert(tx, caller, row).await?);
                }
                for (part, id) in new.iter().zip(&ids) {
                    dependency::set(tx, &parent.project_id, id, &resolve(&part.depends_on, &ids)?).await?;
                }
                tasks_changed(tx, caller, &parent.project_id, &ids).await?;
                if caller.run().is_some() {
                    battle_plan::follow_tasks(tx, caller, &parent.id).await?;
                }
                let mut tasks = Vec::with_capacity(ids.len());
                for id in &ids {
                    tasks.push(tasks::task(&mut tx.connection, id).await?);
                }
                Ok(tasks)
            })
        })
        .await
    }
}

/// Managed agents create tasks only as planner or orchestrator, and every agent only in its own project.
fn require_can_create(caller: &Caller, project: &ProjectId) -> Result<(), Refusal> {
    match caller {
        Caller::Person(_) | Caller::Runner => Ok(()),
        Caller::Run(run) if matches!(run.phase, AgentKind::Coder | AgentKind::Reviewer) => Err(RunRefusal::WrongAgentKind {
            phase: run.phase,
            action: "create tasks".to_owned(),
            hint: "Say with add_comment what else should be done; the orchestrator reads it.".to_owned(),
        }
        .into()),
        Caller::Run(run) if run.project_id != *project => Err(Refusal::not_found("project", project)),
        Caller::Run(_) => Ok(()),
        Caller::Agent(agent) if agent.project_id != *project => Err(Refusal::not_found("project", project)),
        Caller::Agent(_) => Ok(()),
        Caller::Invite(_) => Err(AgentRefusal::NotRegistered.into()),
    }
}

/// Refuses a parent that gets no more children. A planner adds to its own task, an orchestrator to the planning task of its round.
async fn require_open_plan(tx: &mut Tx, caller: &Caller, parent: &Card) -> Result<()> {
    if let Caller::Run(run) = caller {
        let plan = plan_of(tx, run).await?;
        if parent.id != plan {
            return Err(RunRefusal::WrongTask { task: parent.id.clone(), own: plan }.into());
        }
        let own = tasks::card(&mut tx.connection, &run.task_id).await?;
        if own.status != Status::InProgress {
            return Err(wrong_status(&own, "its work is already submitted", "End your turn; say in a comment what else should be done.").into());
        }
    }
    if parent.status == Status::Cancelled {
        return Err(wrong_status(parent, "it is cancelled", "Move it back to backlog first.").into());
    }
    Ok(())
}

/// Returns the planning task that a run adds to.
async fn plan_of(tx: &mut Tx, run: &RunCaller) -> Result<TaskId> {
    let own = tasks::card(&mut tx.connection, &run.task_id).await?;
    Ok(own.round_of.unwrap_or(own.id))
}

/// Refuses an agent that named a class other than lead. One without a class proposes tasks, which are held.
async fn require_class(tx: &mut Tx, caller: &Caller, participant: &Participant) -> Result<()> {
    let Caller::Agent(_) = caller else { return Ok(()) };
    match agents::declared(&mut tx.connection, &participant.project, &participant.name).await?.class {
        None | Some(AgentClass::Lead) => Ok(()),
        Some(class) => Err(ClassRefusal::CreatesNoTasks { agent: participant.name.clone(), class }.into()),
    }
}

/// Returns the hold of a new child: in a project that asks for approval, an unfinished plan holds its tasks.
async fn held_by_plan(tx: &mut Tx, parent: &Card) -> Result<Option<HeldBy>> {
    let asks = projects::read(&mut tx.connection, &parent.project_id).await?.plan_approval == PlanApproval::Ask;
    Ok((asks && parent.status.is_open()).then_some(HeldBy::Plan))
}

/// Whether the children of `parent` wait for the plan's approval. A new child then waits too.
async fn plan_awaits_approval(tx: &mut Tx, parent: &TaskId) -> Result<bool> {
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM tasks WHERE parent_task_id = $1 AND held_by = 'plan' AND status = 'backlog' LIMIT 1")
        .bind(parent.as_str())
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

fn phase_of(given: Option<AgentKind>) -> Result<AgentKind, Refusal> {
    match given {
        None | Some(AgentKind::Coder) => Ok(AgentKind::Coder),
        Some(AgentKind::Planner) => Ok(AgentKind::Planner),
        Some(phase) => Err(Refusal::invalid(
            "phase",
            format!("{phase} tasks cannot be created"),
            "Use coder; the runner starts reviewers and orchestrators itself.",
        )),
    }
}

fn resolve(given: &[Dependency], ids: &[TaskId]) -> Result<Vec<TaskId>, Refusal> {
    given
        .iter()
        .map(|dependency| match dependency {
            Dependency::Task(id) => Ok(id.clone()),
            Dependency::Index(index) => ids.get(usize::try_from(*index).unwrap_or(usize::MAX)).cloned().ok_or_else(|| {
                Refusal::invalid(
                    "depends_on",
                    format!("there is no task number {index} in this list of {}", ids.len()),
                    "Count from 0, or name an existing task like TASK-001.",
                )
            }),
        })
        .collect()
}
