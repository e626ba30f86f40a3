//! Goals: tasks that are signed off together. A goal's status follows its tasks, and a lead signs it off.

pub(crate) mod row;
pub(crate) mod write;

use domain::board::card::Card;
use domain::board::goal::{Goal, GoalEvent, GoalRefusal, GoalStatus, NewGoal};
use domain::board::status::Status;
use domain::board::task::Task;
use domain::id::{GoalId, ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::text;

use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::consequences::task_changed;
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::team::participant::row as participant;
use crate::warroom::lead::row as lead;

impl Db {
    /// Creates a goal. Tasks are linked to it afterwards.
    ///
    /// # Errors
    /// When a text is invalid or the caller has not registered.
    pub async fn create_goal(&self, caller: &Caller, project: &ProjectId, new: NewGoal) -> Result<Goal> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                let title = text::validate_title("title", &new.title)?;
                let description = text::validate_optional_body("description", new.description.as_deref())?;
                let id = GoalId::new(tx.next_number(GoalId::PREFIX).await?);
                sqlx::query("INSERT INTO goals (id, project_id, title, description, creator, created_at) VALUES ($1, $2, $3, $4, $5, $6)")
                    .bind(id.as_str())
                    .bind(project.as_str())
                    .bind(title)
                    .bind(description)
                    .bind(participant.name)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_without_card(caller, &project, None, GoalEvent::Created { goal: id.clone() });
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Links a task to a goal, or unlinks it.
    ///
    /// # Errors
    /// When the caller is not a lead, the goal belongs to another project, or the task is of a kind that is never verified.
    pub async fn link_task(&self, caller: &Caller, task: &TaskId, goal: Option<&GoalId>) -> Result<Task> {
        let (task, goal) = (task.clone(), goal.cloned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &task).await?;
                if caller.project().is_some_and(|own| *own != card.project_id) {
                    return Err(Refusal::not_found("task", &task).into());
                }
                lead::load_for_task(&mut tx.connection, caller, &card).await?.require_lead("linking tasks to goals")?;
                if card.goal_id == goal {
                    tx.skip_event(NoEventReason::NothingChanged);
                } else {
                    write::link(tx, caller, &card, goal.as_ref()).await?;
                    task_changed::goal_linked(tx, caller, &card.project_id, &task, card.goal_id.as_ref()).await?;
                }
                tasks::task(&mut tx.connection, &task).await
            })
        })
        .await
    }

    /// Lists the goals of a project, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn goals(&self, project: &ProjectId) -> Result<Vec<Goal>> {
        let mut connection = self.readers.acquire().await?;
        let rows = sqlx::query("SELECT * FROM goals WHERE project_id = $1 ORDER BY length(id), id")
            .bind(project.as_str())
            .fetch_all(&mut *connection)
            .await?;
        let mut goals = rows.iter().map(row::goal_of).collect::<Result<Vec<Goal>>>()?;
        for row in &sqlx::query(row::PROGRESS_OF_PROJECT).bind(project.as_str()).fetch_all(&mut *connection).await? {
            let id: GoalId = parsed(row, "goal_id")?;
            if let Some(goal) = goals.iter_mut().find(|goal| goal.id == id) {
                row::add_progress(&mut goal.progress, row)?;
            }
        }
        Ok(goals)
    }

    /// # Errors
    /// When the goal does not exist.
    pub async fn goal(&self, id: &GoalId) -> Result<Goal> {
        row::read(&mut *self.readers.acquire().await?, id).await
    }

    /// Signs off a goal once all its tasks are verified. Notifies the leads and the assignees of its tasks.
    ///
    /// # Errors
    /// When the caller is not a lead, or the goal is already signed off, has no task, or has an unverified one.
    pub async fn verify_goal(&self, caller: &Caller, id: &GoalId, notes: Option<&str>) -> Result<Goal> {
        let (id, notes) = (id.clone(), notes.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let goal = row::read(&mut tx.connection, &id).await?;
                if caller.project().is_some_and(|own| *own != goal.project_id) {
                    return Err(Refusal::not_found("goal", &id).into());
                }
                if caller.is_person() {
                    caller.require_decision("signing goals off")?;
                }
                let participant = participant::load(&mut tx.connection, caller, &goal.project_id).await?;
                participant.require_lead("signing goals off")?;
                participant.require_whole_project("signing goals off")?;
                let notes = text::validate_optional_body("notes", notes.as_deref())?;
                let cards = row::linked(tx, &goal).await?;
                require_verifiable(&goal, &cards)?;
                sqlx::query("UPDATE goals SET status = 'verified', verified_by = $2, notes = $3, verified_at = $4 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&participant.name)
                    .bind(&notes)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                write::record_move(tx, caller, &goal, GoalStatus::Verified);
                let outcome = match notes {
                    Some(notes) => format!("verified.\n\n{notes}"),
                    None => "verified.".to_owned(),
                };
                write::notify(tx, caller, &participant.name, &goal, &cards, &outcome).await?;
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// Fails if the goal cannot be signed off.
fn require_verifiable(goal: &Goal, cards: &[Card]) -> Result<(), Refusal> {
    let refuse = |problem: &str, hint: &str| Refusal::invalid("goal_id", format!("{} {problem}", goal.id), hint);
    if goal.status == GoalStatus::Verified {
        return Err(refuse("is already verified", "Nothing is left to do."));
    }
    if goal.progress.linked == 0 {
        return Err(refuse("has no task that counts", "Link tasks with link_task_to_goal and have them verified."));
    }
    let open: Vec<TaskId> = cards.iter().filter(|card| blocks_sign_off(card)).map(|card| card.id.clone()).collect();
    if open.is_empty() { Ok(()) } else { Err(GoalRefusal::Unfinished { goal: goal.id.clone(), open }.into()) }
}

/// Returns whether a linked task blocks the sign-off of its goal.
fn blocks_sign_off(card: &Card) -> bool {
    card.contributors.verified_by.is_none() && (card.status == Status::Done || !card.satisfies_dependents())
}
