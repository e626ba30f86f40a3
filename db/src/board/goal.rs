//! Goals: tasks that are signed off together. A goal's status follows its tasks, and a lead signs it off.

use std::collections::BTreeSet;

use domain::board::card::Card;
use domain::board::goal::{Goal, GoalStatus, NewGoal, Progress};
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::transition::{Mover, rule};
use domain::event::Event;
use domain::id::{GoalId, ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::{HUMAN, RUNNER};
use domain::text;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::board::task::read as tasks;
use crate::board::task::read::{count, optional, parsed};
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::Roster;
use crate::team::message::{OutgoingMessage, post};
use crate::team::participant;

impl Db {
    /// Creates a goal. Tasks are linked to it afterwards.
    ///
    /// # Errors
    /// When a text is invalid or the caller has not registered.
    pub async fn create_goal(&self, caller: &Caller, project: &ProjectId, new: NewGoal) -> Result<Goal> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let voice = participant::load(&mut tx.connection, caller, &project).await?;
                let title = text::validate_title("title", &new.title)?;
                let description = text::validate_optional_body("description", new.description.as_deref())?;
                let id = GoalId::new(tx.next_number(GoalId::PREFIX).await?);
                sqlx::query("INSERT INTO goals (id, project_id, title, description, creator, created_at) VALUES ($1, $2, $3, $4, $5, $6)")
                    .bind(id.as_str())
                    .bind(project.as_str())
                    .bind(title)
                    .bind(description)
                    .bind(voice.name)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_without_card(caller, &project, None, Event::GoalCreated { goal: id.clone() });
                read(&mut tx.connection, &id).await
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
                participant::load(&mut tx.connection, caller, &card.project_id).await?.require_lead("linking tasks to goals")?;
                if card.goal_id == goal {
                    tx.skip_event(NoEventReason::NothingChanged);
                } else {
                    link(tx, caller, &card, goal.as_ref()).await?;
                    consequences::goal_linked(tx, caller, &card.project_id, &task, card.goal_id.as_ref()).await?;
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
        let mut goals = rows.iter().map(goal_of).collect::<Result<Vec<Goal>>>()?;
        for row in &sqlx::query(PROGRESS_OF_PROJECT).bind(project.as_str()).fetch_all(&mut *connection).await? {
            let id: GoalId = parsed(row, "goal_id")?;
            if let Some(goal) = goals.iter_mut().find(|goal| goal.id == id) {
                add_progress(&mut goal.progress, row)?;
            }
        }
        Ok(goals)
    }

    /// # Errors
    /// When the goal does not exist.
    pub async fn goal(&self, id: &GoalId) -> Result<Goal> {
        read(&mut *self.readers.acquire().await?, id).await
    }

    /// Signs off a goal once all its tasks are verified. Notifies the leads and the assignees of its tasks.
    ///
    /// # Errors
    /// When the caller is not a lead, or the goal is already signed off, has no task, or has an unverified one.
    pub async fn verify_goal(&self, caller: &Caller, id: &GoalId, notes: Option<&str>) -> Result<Goal> {
        let (id, notes) = (id.clone(), notes.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let goal = read(&mut tx.connection, &id).await?;
                if caller.project().is_some_and(|own| *own != goal.project_id) {
                    return Err(Refusal::not_found("goal", &id).into());
                }
                let voice = participant::load(&mut tx.connection, caller, &goal.project_id).await?;
                voice.require_lead("signing goals off")?;
                let notes = text::validate_optional_body("notes", notes.as_deref())?;
                let cards = linked(tx, &goal).await?;
                may_be_verified(&goal, &cards)?;
                sqlx::query("UPDATE goals SET status = 'verified', verified_by = $2, notes = $3, verified_at = $4 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&voice.name)
                    .bind(&notes)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                moved(tx, caller, &goal, GoalStatus::Verified);
                let words = match notes {
                    Some(notes) => format!("verified.\n\n{notes}"),
                    None => "verified.".to_owned(),
                };
                notify(tx, caller, &voice.name, &goal, &cards, &words).await?;
                read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// Fails if the goal cannot be signed off.
fn may_be_verified(goal: &Goal, cards: &[Card]) -> Result<(), Refusal> {
    let refuse = |problem: &str, hint: &str| Refusal::invalid("goal_id", format!("{} {problem}", goal.id), hint);
    if goal.status == GoalStatus::Verified {
        return Err(refuse("is already verified", "Nothing is left to do."));
    }
    if goal.progress.linked == 0 {
        return Err(refuse("has no task that counts", "Link tasks with link_task_to_goal and have them verified."));
    }
    let open: Vec<TaskId> = cards.iter().filter(|card| blocks_sign_off(card)).map(|card| card.id.clone()).collect();
    if open.is_empty() { Ok(()) } else { Err(Refusal::GoalUnfinished { goal: goal.id.clone(), open }) }
}

/// Returns whether a linked task blocks the sign-off of its goal.
fn blocks_sign_off(card: &Card) -> bool {
    card.contributors.verified_by.is_none() && (card.status == Status::Done || !card.satisfies_dependents())
}

/// Links a task to a goal of its project. The caller updates the goal's status.
pub(crate) async fn link(tx: &mut Tx, caller: &Caller, card: &Card, goal: Option<&GoalId>) -> Result<()> {
    let Card { id: task, project_id: project, phase, .. } = card;
    if let Some(goal) = goal {
        let found = read(&mut tx.connection, goal).await?;
        if found.project_id != *project {
            return Err(Refusal::not_found("goal", goal).into());
        }
        // A goal with a task that is never verified could never be signed off.
        if rule(*phase, Status::Done, Status::Done, Mover::Verifier).is_none() {
            let problem = format!("{task} is a {phase} task, and only coder tasks are verified");
            return Err(Refusal::invalid("task_id", problem, "Link the coder tasks that it creates.").into());
        }
    }
    sqlx::query("UPDATE tasks SET goal_id = $2, updated_at = $3 WHERE id = $1")
        .bind(task.as_str())
        .bind(goal.map(GoalId::as_str))
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, project, task, Event::TaskLinked { goal: goal.cloned() });
    Ok(())
}

/// Lets a goal follow its tasks, forwards and back.
pub(crate) async fn sync_status(tx: &mut Tx, caller: &Caller, id: &GoalId) -> Result<()> {
    let goal = read(&mut tx.connection, id).await?;
    let to = goal.status.after_progress(goal.progress);
    if to == goal.status {
        return Ok(());
    }
    // The earlier sign-off covered a different set of tasks.
    sqlx::query("UPDATE goals SET status = $2, verified_by = NULL, verified_at = NULL, notes = NULL WHERE id = $1")
        .bind(goal.id.as_str())
        .bind(to.as_str())
        .execute(&mut tx.connection)
        .await?;
    moved(tx, caller, &goal, to);
    match (goal.status, to) {
        (_, GoalStatus::PendingVerify) => {
            notify(tx, &Caller::Runner, RUNNER, &goal, &[], "every task is verified. A lead signs it off with verify_goal.").await
        }
        (GoalStatus::PendingVerify | GoalStatus::Verified, _) => {
            let linked = linked(tx, &goal).await?;
            notify(tx, &Caller::Runner, RUNNER, &goal, &linked, "active again: not all of its tasks are verified.").await
        }
        _ => Ok(()),
    }
}

fn moved(tx: &mut Tx, caller: &Caller, goal: &Goal, to: GoalStatus) {
    let event = Event::GoalMoved { goal: goal.id.clone(), from: goal.status, to };
    tx.record_without_card(caller, &goal.project_id, None, event);
}

/// Notifies the leads, the assignees of `cards`, and the human if no external lead could answer.
async fn notify(tx: &mut Tx, caller: &Caller, from: &str, goal: &Goal, cards: &[Card], words: &str) -> Result<()> {
    let mut content = format!("[GOAL] {}: {} is {words}", goal.id, goal.title);
    content.truncate(content.floor_char_boundary(text::BODY_BYTES));
    let roster = Roster::load(tx, &goal.project_id).await?;
    let mut told: BTreeSet<&str> = roster.leads().collect();
    if !roster.has_external_lead() {
        told.insert(HUMAN);
    }
    told.extend(cards.iter().filter_map(|card| card.contributors.assigned_to.as_deref()));
    for to in told.into_iter().filter(|to| *to != from) {
        post(tx, caller, OutgoingMessage { project: &goal.project_id, from, to, content: &content, task: None, reply_to: None }).await?;
    }
    Ok(())
}

async fn linked(tx: &mut Tx, goal: &Goal) -> Result<Vec<Card>> {
    tasks::outlines(&mut tx.connection, "WHERE t.goal_id = $1 ORDER BY length(t.id), t.id", goal.id.as_str()).await
}

async fn read(connection: &mut SqliteConnection, id: &GoalId) -> Result<Goal> {
    let row = sqlx::query("SELECT * FROM goals WHERE id = $1").bind(id.as_str()).fetch_optional(&mut *connection).await?;
    let mut goal = goal_of(&row.ok_or_else(|| Refusal::not_found("goal", id))?)?;
    for row in &sqlx::query(PROGRESS).bind(id.as_str()).fetch_all(connection).await? {
        add_progress(&mut goal.progress, row)?;
    }
    Ok(goal)
}

/// How the tasks of a goal stand, counted by what decides its progress.
pub(crate) const PROGRESS: &str = "SELECT status, cancel_reason, COUNT(*) AS linked, COUNT(verified_by) AS verified
  FROM tasks WHERE goal_id = $1 GROUP BY status, cancel_reason";

/// The same of all goals of a project.
pub(crate) const PROGRESS_OF_PROJECT: &str = "SELECT goal_id, status, cancel_reason, COUNT(*) AS linked, COUNT(verified_by) AS verified
  FROM tasks WHERE goal_id IN (SELECT id FROM goals WHERE project_id = $1) GROUP BY goal_id, status, cancel_reason";

fn add_progress(progress: &mut Progress, row: &SqliteRow) -> Result<()> {
    progress.add(parsed(row, "status")?, optional(row, "cancel_reason")?, count(row, "linked")?, count(row, "verified")?);
    Ok(())
}

/// A goal before its tasks are counted.
fn goal_of(row: &SqliteRow) -> Result<Goal> {
    Ok(Goal {
        id: parsed(row, "id")?,
        progress: Progress::default(),
        project_id: parsed(row, "project_id")?,
        title: row.try_get("title")?,
        description: row.try_get("description")?,
        status: parsed(row, "status")?,
        creator: row.try_get("creator")?,
        verified_by: row.try_get("verified_by")?,
        notes: row.try_get("notes")?,
        created_at: parsed(row, "created_at")?,
        verified_at: optional(row, "verified_at")?,
    })
}
