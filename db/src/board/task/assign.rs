//! Giving tasks to agents from outside, and the hats in which they work on them.

use domain::board::card::Card;
use domain::board::status::{HeldBy, Status};
use domain::board::task::Task;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Agent;
use domain::team::role::Role;

use crate::board::question;
use crate::board::task::gate::{finish_change, load_for_participant};
use crate::board::task::moves::{notice_text, post_notice};
use crate::board::task::wrong_status;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::run;
use crate::team::agent;
use crate::team::agent::Roster;
use crate::team::contribution;
use crate::team::contribution::Contribution;
use crate::team::hat;
use crate::team::message::{OutgoingMessage, post_with_copies};
use crate::team::participant::Participant;

impl Db {
    /// Gives an open task to an agent from outside, so that the runner starts no other for it, or takes it back, and then it waits until
    /// the person presses Start. A run that works on it loses its right to write.
    ///
    /// # Errors
    /// When the caller leads nothing, nobody from outside is called so, or the hat is none that the agent may wear.
    pub async fn assign_task(&self, caller: &Caller, id: &TaskId, to: Option<String>, hat: Option<Role>) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                match to {
                    Some(name) => {
                        let who = assignee(tx, &task.card.project_id, &voice.name, &name).await?;
                        assign_by_lead(tx, caller, &voice, &task.card, &who, hat).await?;
                    }
                    None => unassign_by_lead(tx, caller, &voice, &task.card).await?,
                }
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Says in which of its roles the assignee works on a task.
    ///
    /// # Errors
    /// When the caller is no lead, nobody is assigned, or the role is none that the assignee has or may wear in this project.
    pub async fn assign_role_hat(&self, caller: &Caller, id: &TaskId, role: Role) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                voice.require_lead("assigning hats")?;
                let card = &task.card;
                let Some(name) = &card.contributors.assigned_to else {
                    return Err(wrong_status(card, "nobody wears a hat for it", "Assign it with update_task and assigned_to first.").into());
                };
                let who = agent::read(&mut tx.connection, &card.project_id, name).await?.ok_or_else(|| Refusal::not_found("agent", name))?;
                require_role(&who, role)?;
                hat::assign(tx, caller, &card.project_id, &card.id, name, role).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}

/// Somebody to whom a task is given, among those who are there.
pub(super) struct Assignee {
    agent: Agent,
    roster: Roster,
}

/// Whom `speaker` means by `given`: an agent from outside who is there. Our own get their work from the runner.
pub(super) async fn assignee(tx: &mut Tx, project: &ProjectId, speaker: &str, given: &str) -> Result<Assignee> {
    let roster = Roster::load(tx, project).await?;
    let name = roster.recipient(tx, speaker, given).await?;
    match agent::read(&mut tx.connection, project, &name).await? {
        Some(agent) if agent.run_id.is_none() => Ok(Assignee { agent, roster }),
        _ => Err(Refusal::invalid(
            "assigned_to",
            format!("{name} is no agent from outside"),
            "Name one that who shows without a run; leave assigned_to out and the runner finds an agent.",
        )
        .into()),
    }
}

/// Gives an open task to somebody, who is told.
pub(super) async fn assign_by_lead(tx: &mut Tx, caller: &Caller, voice: &Participant, card: &Card, to: &Assignee, hat: Option<Role>) -> Result<()> {
    voice.require_lead("assigning tasks")?;
    if !caller.is_person() && card.held_by == Some(HeldBy::Stop) {
        return Err(wrong_status(card, "the person stopped it", "Ask the person with send to human.").into());
    }
    assign_to(tx, caller, &voice.name, card, to, hat).await
}

/// Assigns a new task. Its creator does not have to be a lead.
pub(super) async fn assign_to(tx: &mut Tx, caller: &Caller, from: &str, card: &Card, to: &Assignee, hat: Option<Role>) -> Result<()> {
    let who = &to.agent;
    if card.phase != AgentKind::Coder {
        return Err(Refusal::invalid("assigned_to", format!("a {} task is the runner's", card.phase), "Assign tasks of the phase coder.").into());
    }
    if !card.status.is_open() {
        return Err(wrong_status(card, "there is nothing to give out", "Send it back to work first, or create a new task.").into());
    }
    if card.is_approved() {
        return Err(wrong_status(card, "it is approved and waits to be merged", "Wait for the merge, or send it back to work first.").into());
    }
    let hat = hat.or(card.contributors.role_hat);
    if let Some(hat) = hat {
        require_role(who, hat)?;
    }
    // A plan that waits for the person goes on waiting.
    sqlx::query(
        "UPDATE tasks SET assigned_to = $2, role_hat = $3, held_by = CASE WHEN held_by = 'plan' THEN held_by END, wait_reason = NULL, failures = 0,
                last_failure = NULL, retry_at = NULL, updated_at = $4,
                attention = CASE WHEN json_extract(attention, '$.kind') = 'dependency_cancelled' THEN attention END
         WHERE id = $1",
    )
    .bind(card.id.as_str())
    .bind(&who.name)
    .bind(hat.map(Role::as_str))
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskAssigned { to: Some(who.name.clone()) });
    if let Some(hat) = hat {
        hat::assign(tx, caller, &card.project_id, &card.id, &who.name, hat).await?;
    }
    run::fence_run(tx, caller, card).await?;
    question::withdraw(tx, &card.id).await?;
    if let Some(before) = card.contributors.assigned_to.as_deref().filter(|before| *before != who.name) {
        record_builder(tx, card, before).await?;
    }
    notify_assignment(tx, caller, from, card, to).await
}

/// Tells the new assignee and the leads, and the one who had the task before.
async fn notify_assignment(tx: &mut Tx, caller: &Caller, from: &str, card: &Card, to: &Assignee) -> Result<()> {
    let name = to.agent.name.as_str();
    match card.contributors.assigned_to.as_deref() {
        Some(before) if before == name => return Ok(()),
        Some(before) => {
            post_notice(tx, caller, card, from, before, &notice_text("TAKEN BACK", card, Some(&format!("It was given to {name}.")))).await?;
        }
        None => {}
    }
    if name == from {
        for lead in to.roster.leads() {
            post_notice(tx, caller, card, from, lead, &notice_text("ASSIGNED", card, Some(&format!("{name} took it.")))).await?;
        }
        return Ok(());
    }
    let content =
        notice_text("ASSIGNED", card, Some("Call get_task for what is to be done, and update_task with status in_progress when you begin."));
    let post = OutgoingMessage { project: &card.project_id, from, to: name, content: &content, task: Some(&card.id), reply_to: None };
    post_with_copies(tx, caller, &to.roster, post, Vec::new()).await.map(drop)
}

/// Unassigns an open task. Its contributors stay recorded as builders.
async fn unassign_by_lead(tx: &mut Tx, caller: &Caller, voice: &Participant, card: &Card) -> Result<()> {
    caller.require_person("taking tasks back")?;
    let Some(before) = &card.contributors.assigned_to else {
        tx.skip_event(NoEventReason::NothingChanged);
        return Ok(());
    };
    if !card.status.is_open() {
        return Err(wrong_status(card, "whoever finished it stays its assignee", "Move it back to work first.").into());
    }
    unassign(tx, caller, card, before).await?;
    post_notice(tx, caller, card, &voice.name, before, &notice_text("TAKEN BACK", card, None)).await
}

/// Unassigns a task without a notice, and clears the attention that its assignee left or stopped responding.
pub(super) async fn unassign(tx: &mut Tx, caller: &Caller, card: &Card, before: &str) -> Result<()> {
    let by = HeldBy::Human;
    sqlx::query(
        "UPDATE tasks SET assigned_to = NULL, role_hat = NULL, held_by = COALESCE(held_by, $2), wait_reason = NULL, updated_at = $3,
                attention = CASE WHEN json_extract(attention, '$.kind') IN ('stalled', 'silent') THEN NULL ELSE attention END
         WHERE id = $1",
    )
    .bind(card.id.as_str())
    .bind(by.as_str())
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskAssigned { to: None });
    record_builder(tx, card, before).await?;
    if card.held_by.is_none() {
        tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskHeld { by });
    }
    Ok(())
}

/// Whoever had a task that was begun worked on it, whether they began it themselves or not.
async fn record_builder(tx: &mut Tx, card: &Card, assignee: &str) -> Result<()> {
    if card.status == Status::Backlog { Ok(()) } else { contribution::record(tx, &card.id, assignee, Contribution::Built).await }
}

/// Refuses a hat that is none of the agent's roles; one that said nothing of its roles may wear any.
fn require_role(who: &Agent, hat: Role) -> Result<(), Refusal> {
    if who.roles.is_empty() || who.roles.contains(&hat) {
        return Ok(());
    }
    let roles: Vec<&str> = who.roles.iter().map(|role| role.as_str()).collect();
    Err(Refusal::invalid("role_hat", format!("{} is no {hat}: its roles are {}", who.name, roles.join(", ")), "Choose one of its roles."))
}
