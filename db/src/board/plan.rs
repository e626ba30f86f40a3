//! Approval of plans: the human approves a plan, or sends it back to its planner with feedback.

use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::status::Status;
use domain::event::Event;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::evidence::EvidenceResult;
use domain::text;

use crate::board::task::{MoveRequest, apply, read, release};
use crate::board::{comment, project};
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;

impl Db {
    /// Releases every task that the plan holds.
    ///
    /// # Errors
    /// When no task is held by a plan.
    pub async fn approve_plan(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("approving plans")?;
                let waiting = held_cards(tx, &id).await?;
                tx.record_for_project(&caller, &id, Event::PlanApproved {});
                for card in waiting {
                    let task = read::task(&mut tx.connection, &card.id).await?;
                    release(tx, &caller, &task).await?;
                }
                project::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Sends the pending plan back: cancels its tasks as obsolete and resumes the planner with the feedback.
    ///
    /// # Errors
    /// When no task is held by a plan, or the feedback is invalid.
    pub async fn revise_plan(&self, caller: &Caller, id: &ProjectId, words: &str) -> Result<Project> {
        let (caller, id, words) = (caller.clone(), id.clone(), words.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("revising plans")?;
                let words = text::validate_body("content", &words)?;
                let waiting = held_cards(tx, &id).await?;
                tx.record_for_project(&caller, &id, Event::PlanRevised {});
                let mut planners: Vec<_> = waiting.iter().filter_map(|card| card.parent_task_id.clone()).collect();
                planners.sort();
                planners.dedup();
                let obsolete = MoveRequest { to: Status::Cancelled, reason: Some("obsolete".to_owned()), merge: false };
                for card in &waiting {
                    let task = read::task(&mut tx.connection, &card.id).await?;
                    apply(tx, &caller, &task, &obsolete, &EvidenceResult::Nothing).await?;
                }
                let again = MoveRequest { to: Status::InProgress, reason: Some(words.clone()), merge: false };
                let mut changed = planners.clone();
                for planner in planners {
                    let task = read::task(&mut tx.connection, &planner).await?;
                    if task.card.status == Status::Done {
                        apply(tx, &caller, &task, &again, &EvidenceResult::Nothing).await?;
                    } else {
                        comment::insert(tx, &caller, &id, &planner, &words).await?;
                    }
                }
                changed.extend(waiting.into_iter().map(|card| card.id));
                consequences::tasks_changed(tx, &caller, &id, &changed).await?;
                project::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

async fn held_cards(tx: &mut Tx, id: &ProjectId) -> Result<Vec<Card>> {
    project::read(&mut tx.connection, id).await?;
    let held = "WHERE t.project_id = $1 AND t.status = 'backlog' AND t.held_by = 'plan' ORDER BY length(t.id), t.id";
    let cards = read::outlines(&mut tx.connection, held, id.as_str()).await?;
    if cards.is_empty() { Err(Refusal::NoPendingPlan.into()) } else { Ok(cards) }
}
