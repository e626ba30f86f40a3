//! Making tasks: one by a person, many by a planner or an orchestrator.

use domain::board::card::Card;
use domain::board::project::PlanApproval;
use domain::board::status::{HeldBy, Status};
use domain::board::task::{Dependency, NewSubtask, NewTask, Task};
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::text;

use crate::board::task::assign::{assign_to, assignee};
use crate::board::task::{read, wrong_status};
use crate::board::{dependency, goal, project};
use crate::caller::{Caller, RunCaller};
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::participant;

/// A task that was checked and only needs a row.
pub(crate) struct NewTaskRow {
    pub(crate) project: ProjectId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) phase: AgentKind,
    pub(crate) status: Status,
    pub(crate) held_by: Option<HeldBy>,
    pub(crate) priority: i64,
    pub(crate) model: Option<String>,
    pub(crate) round: Option<(TaskId, u32)>,
}

impl Db {
    /// Makes one task. A person's, and that of an agent from outside, waits until the person presses Start, unless they asked for it to
    /// start at once, or somebody is assigned, who is told.
    ///
    /// # Errors
    /// When a text is too long or empty, a dependency is unknown or makes a circle, an agent asks whose phase may not make tasks or, from
    /// outside and below another task or for a goal, that does not lead, or the assignee is nobody from outside or may not wear the hat.
    pub async fn create_task(&self, caller: &Caller, project: &ProjectId, new: NewTask) -> Result<Task> {
        let project_id = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                require_can_create(caller, &project_id)?;
                let voice = participant::load(&mut tx.connection, caller, &project_id).await?;
                if matches!(caller, Caller::Agent(_)) && new.parent_task_id.is_some() {
                    voice.require_lead("adding to a plan")?;
                }
                if new.goal_id.is_some() {
                    voice.require_lead("linking tasks to goals")?;
                }
                let speaker = voice.name;
                let title = text::validate_title("title", &new.title)?;
                let description = text::validate_optional_body("description", new.description.as_deref())?;
                let parent = match (caller, new.parent_task_id) {
                    // What an agent adds belongs to its plan, named or not.
                    (Caller::Run(run), None) => Some(plan_of(tx, run).await?),
                    (_, given) => given,
                };
                let person_starts = match caller {
                    Caller::Person(_) => !new.start,
                    Caller::Agent(_) | Caller::Invite(_) => true,
                    Caller::Runner | Caller::Run(_) => false,
                };
                let mut held_by = (person_starts && new.assigned_to.is_none()).then_some(HeldBy::Human);
                if let Some(parent) = &parent {
                    in_project(tx, &project_id, parent).await?;
                    if caller.run().is_some() {
                        let parent = read::card(&mut tx.connection, parent).await?;
                        require_open_plan(tx, caller, &parent).await?;
                        held_by = held_by_plan(tx, &parent).await?;
                    } else if held_by.is_some() && plan_awaits_approval(tx, parent).await? {
                        held_by = Some(HeldBy::Plan);
                    }
                }
                let row = NewTaskRow {
                    project: project_id.clone(),
                    parent,
                    title,
                    description,
                    phase: phase_of(new.phase)?,
                    status: Status::Backlog,
                    held_by,
                    priority: new.priority.unwrap_or(0),
                    model: text::validate_optional_body("model", new.model.as_deref())?,
                    round: None,
                };
                let id = insert(tx, caller, row).await?;
                if !new.depends_on.is_empty() {
                    dependency::set(tx, &project_id, &id, &new.depends_on).await?;
                }
                if let Some(name) = &new.assigned_to {
                    let who = assignee(tx, &project_id, &speaker, name).await?;
                    let card = read::card(&mut tx.connection, &id).await?;
                    assign_to(tx, caller, &speaker, &card, &who, new.role_hat).await?;
                } else if let Some(hat) = new.role_hat {
                    return Err(Refusal::invalid("role_hat", format!("nobody wears the hat {hat}"), "Name who does it in assigned_to.").into());
                }
                if let Some(goal) = &new.goal_id {
                    let card = read::card(&mut tx.connection, &id).await?;
                    goal::link(tx, caller, &card, Some(goal)).await?;
                }
                consequences::task_changed(tx, caller, &project_id, &id).await?;
                read::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Makes the parts of a plan, all or none. They wait for their planning task, and with `plan_approval: ask` for the person.
    ///
    /// # Errors
    /// When there are none or too many, the parent is not one that may have children, a part is not acceptable, or an agent from outside
    /// asks who is no lead.
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
                let parent = read::card(&mut tx.connection, &parent).await?;
                require_can_create(caller, &parent.project_id)?;
                require_open_plan(tx, caller, &parent).await?;
                let mut held_by = held_by_plan(tx, &parent).await?;
                if let Caller::Agent(_) = caller {
                    participant::load(&mut tx.connection, caller, &parent.project_id).await?.require_lead("creating many tasks at once")?;
                    held_by = held_by.or(Some(HeldBy::Human));
                }
                let mut ids = Vec::with_capacity(new.len());
                for part in &new {
                    let row = NewTaskRow {
                        project: parent.project_id.clone(),
                        parent: Some(parent.id.clone()),
                        title: text::validate_title("title", &part.title)?,
                        description: text::validate_optional_body("description", part.description.as_deref())?,
                        phase: phase_of(part.phase)?,
                        status: Status::Backlog,
                        held_by,
                        priority: 0,
                        model: None,
                        round: None,
                    };
                    ids.push(insert(tx, caller, row).await?);
                }
                for (part, id) in new.iter().zip(&ids) {
                    dependency::set(tx, &parent.project_id, id, &resolve(&part.depends_on, &ids)?).await?;
                }
                consequences::tasks_changed(tx, caller, &parent.project_id, &ids).await?;
                let mut tasks = Vec::with_capacity(ids.len());
                for id in &ids {
                    tasks.push(read::task(&mut tx.connection, id).await?);
                }
                Ok(tasks)
            })
        })
        .await
    }
}

/// A run's agent makes tasks only as planner or orchestrator, every agent only in its own project.
fn require_can_create(caller: &Caller, project: &ProjectId) -> Result<(), Refusal> {
    match caller {
        Caller::Person(_) | Caller::Runner => Ok(()),
        Caller::Run(run) if matches!(run.phase, AgentKind::Coder | AgentKind::Reviewer) => Err(Refusal::WrongAgentKind {
            phase: run.phase,
            action: "create tasks".to_owned(),
            hint: "Say with add_comment what else should be done; the orchestrator reads it.".to_owned(),
        }),
        Caller::Run(run) if run.project_id != *project => Err(Refusal::not_found("project", project)),
        Caller::Run(_) => Ok(()),
        Caller::Agent(agent) if agent.project_id != *project => Err(Refusal::not_found("project", project)),
        Caller::Agent(_) => Ok(()),
        Caller::Invite(_) => Err(Refusal::NotRegistered),
    }
}

/// A planner plans below its own task; an orchestrator adds to the planning task of its round.
async fn require_open_plan(tx: &mut Tx, caller: &Caller, parent: &Card) -> Result<()> {
    if let Caller::Run(run) = caller {
        let right = plan_of(tx, run).await?;
        if parent.id != right {
            return Err(Refusal::WrongTask { task: parent.id.clone(), own: right }.into());
        }
        let own = read::card(&mut tx.connection, &run.task_id).await?;
        if own.status != Status::InProgress {
            return Err(wrong_status(&own, "its work is handed in", "End your turn; say in a comment what else should be done.").into());
        }
    }
    if parent.status == Status::Cancelled {
        return Err(wrong_status(parent, "it gets no more children", "Move it back to backlog first.").into());
    }
    Ok(())
}

/// The planning task that a run adds to.
async fn plan_of(tx: &mut Tx, run: &RunCaller) -> Result<TaskId> {
    let own = read::card(&mut tx.connection, &run.task_id).await?;
    Ok(own.round_of.unwrap_or(own.id))
}

/// The hold of a new child: while its plan is being made in a project that asks, the person's word is awaited.
async fn held_by_plan(tx: &mut Tx, parent: &Card) -> Result<Option<HeldBy>> {
    let asks = project::read(&mut tx.connection, &parent.project_id).await?.plan_approval == PlanApproval::Ask;
    Ok((asks && parent.status.is_open()).then_some(HeldBy::Plan))
}

/// Whether the children of `parent` wait for the plan's approval, so that one more waits with them.
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
        Some(phase) => {
            Err(Refusal::invalid("phase", format!("no task is made for a {phase}"), "Use coder: review and orchestration come by themselves."))
        }
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

pub(crate) async fn in_project(tx: &mut Tx, project: &ProjectId, task: &TaskId) -> Result<()> {
    if read::project_of_task(&mut tx.connection, task).await? == *project {
        return Ok(());
    }
    Err(Refusal::not_found("task", task).into())
}

pub(crate) async fn insert(tx: &mut Tx, caller: &Caller, row: NewTaskRow) -> Result<TaskId> {
    let id = TaskId::new(tx.next_number(TaskId::PREFIX).await?);
    let now = tx.now.to_string();
    sqlx::query(
        "INSERT INTO tasks (id, project_id, parent_task_id, title, description, phase, status, held_by, priority, model, round_of, round,
                            created_at, updated_at, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)",
    )
    .bind(id.as_str())
    .bind(row.project.as_str())
    .bind(row.parent.as_ref().map(TaskId::as_str))
    .bind(row.title)
    .bind(row.description)
    .bind(row.phase.as_str())
    .bind(row.status.as_str())
    .bind(row.held_by.map(HeldBy::as_str))
    .bind(row.priority)
    .bind(row.model)
    .bind(row.round.as_ref().map(|(of, _)| of.as_str()))
    .bind(row.round.as_ref().map(|(_, round)| i64::from(*round)))
    .bind(now)
    .bind(caller.name())
    .execute(&mut tx.connection)
    .await?;
    tx.record_for_task(caller, &row.project, &id, Event::TaskCreated {});
    Ok(id)
}
