//! Approval of plans: the human approves a plan, or sends it back to its planner with feedback.

use domain::board::card::Card;
use domain::board::comment::Comment;
use domain::board::plan::{PlanEvent, PlanRefusal};
use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::runs::evidence::EvidenceResult;
use domain::text;
use sqlx::Connection;

use crate::board::comment::write as comment;
use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::board::task::write::change::MoveRequest;
use crate::board::task::write::release;
use crate::caller::Caller;
use crate::consequences::task_changed::tasks_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The tasks that a plan holds.
pub(crate) const HELD: &str = "WHERE t.project_id = $1 AND t.status = 'backlog' AND t.held_by = 'plan' ORDER BY length(t.id), t.id";

/// A plan that awaits approval, with the planning task that created it and its thread.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFacts {
    pub project: Project,
    pub planner: Option<Card>,
    pub comments: Vec<Comment>,
    pub tasks: Vec<Task>,
}

impl Db {
    /// Returns the plan that awaits approval; without tasks if none does.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn plan(&self, id: &ProjectId) -> Result<PlanFacts> {
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let project = projects::read(&mut snapshot, id).await?;
        let tasks = tasks::tasks(&mut snapshot, HELD, id.as_str()).await?;
        let planner = match tasks.iter().find_map(|task| task.card.parent_task_id.clone()) {
            Some(planner) => Some(tasks::card(&mut snapshot, &planner).await?),
            None => None,
        };
        snapshot.rollback().await?;
        let comments = match &planner {
            Some(planner) => self.comments(&planner.id).await?,
            None => Vec::new(),
        };
        Ok(PlanFacts { project, planner, comments, tasks })
    }

    /// Releases every task that the plan holds.
    ///
    /// # Errors
    /// When no task is held by a plan.
    pub async fn approve_plan(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("approving plans")?;
                let waiting = held_cards(tx, &id).await?;
                tx.record_for_project(&caller, &id, PlanEvent::Approved {});
                for card in waiting {
                    let task = tasks::task(&mut tx.connection, &card.id).await?;
                    release(tx, &caller, &task).await?;
                }
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Sends the pending plan back: cancels its tasks as obsolete and resumes the planner with the feedback.
    ///
    /// # Errors
    /// When no task is held by a plan, or the feedback is invalid.
    pub async fn revise_plan(&self, caller: &Caller, id: &ProjectId, feedback: &str) -> Result<Project> {
        let (caller, id, feedback) = (caller.clone(), id.clone(), feedback.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("revising plans")?;
                let feedback = text::validate_body("content", &feedback)?;
                let waiting = held_cards(tx, &id).await?;
                tx.record_for_project(&caller, &id, PlanEvent::Revised {});
                let mut planners: Vec<_> = waiting.iter().filter_map(|card| card.parent_task_id.clone()).collect();
                planners.sort();
                planners.dedup();
                let obsolete = MoveRequest { to: Status::Cancelled, reason: Some("obsolete".to_owned()), merge: false };
                for card in &waiting {
                    let task = tasks::task(&mut tx.connection, &card.id).await?;
                    move_task(tx, &caller, &task, &obsolete, &EvidenceResult::Nothing).await?;
                }
                let resume = MoveRequest { to: Status::InProgress, reason: Some(feedback.clone()), merge: false };
                let mut changed = planners.clone();
                for planner in planners {
                    let task = tasks::task(&mut tx.connection, &planner).await?;
                    if task.card.status == Status::Done {
                        move_task(tx, &caller, &task, &resume, &EvidenceResult::Nothing).await?;
                    } else {
                        comment::insert(tx, &caller, &id, &planner, &feedback).await?;
                    }
                }
                changed.extend(waiting.into_iter().map(|card| card.id));
                tasks_changed(tx, &caller, &id, &changed).await?;
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

async fn held_cards(tx: &mut Tx, id: &ProjectId) -> Result<Vec<Card>> {
    projects::read(&mut tx.connection, id).await?;
    let cards = tasks::outlines(&mut tx.connection, HELD, id.as_str()).await?;
    if cards.is_empty() { Err(PlanRefusal::NonePending.into()) } else { Ok(cards) }
}
