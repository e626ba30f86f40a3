//! Assigns and unassigns tasks, and notifies the agents concerned. Must not know the consequences.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::status::{HeldBy, Status};
use domain::board::task::event::TaskEvent;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Agent;
use domain::team::role::Role;
use domain::warroom::class::refusal::ClassRefusal;
use domain::warroom::workload::{self, Workload};

use crate::board::attention::write as attention;
use crate::board::question::write as question;
use crate::board::task::row::wrong_status;
use crate::board::task::write::notice::{notice_text, post_notice};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::run::write::fence_run;
use crate::team::agent::row as agents;
use crate::team::agent::row::roster::Roster;
use crate::team::contribution::write as contribution;
use crate::team::contribution::write::Contribution;
use crate::team::hat::write as hat;
use crate::team::message::{OutgoingMessage, post_with_copies};
use crate::team::participant::row::Participant;
use crate::warroom::battle_plan::row as battle_plans;
use crate::warroom::old_task::row as old_tasks;
use crate::warroom::trigger::row as triggers;

/// The agent that a task is assigned to, and the roster that it is on.
pub(crate) struct Assignee {
    agent: Agent,
    roster: Roster,
}

/// Resolves the external agent that `speaker` named. Managed agents get their work from the runner.
pub(crate) async fn assignee(tx: &mut Tx, project: &ProjectId, speaker: &str, given: &str) -> Result<Assignee> {
    let roster = Roster::load(tx, project).await?;
    let name = roster.recipient(tx, speaker, given).await?;
    match agents::read(&mut tx.connection, project, &name).await? {
        Some(agent) if agent.run_id.is_none() => Ok(Assignee { agent, roster }),
        _ => Err(Refusal::invalid(
            "assigned_to",
            format!("{name} is not an external agent"),
            "Choose an agent that who lists without a run, or omit assigned_to: the runner then starts an agent.",
        )
        .into()),
    }
}

/// Assigns an open task and notifies the assignee. The caller must be a lead, and an external one needs a battle plan.
pub(crate) async fn assign_by_lead(
    tx: &mut Tx,
    caller: &Caller,
    participant: &Participant,
    card: &Card,
    to: &Assignee,
    hat: Option<Role>,
) -> Result<()> {
    participant.require_lead("assigning tasks")?;
    battle_plans::require(&mut tx.connection, caller, participant, "assigning tasks").await?;
    old_tasks::require_reviewed(&mut tx.connection, caller, participant, "assigning tasks").await?;
    triggers::require_no_stop(&mut tx.connection, &card.project_id).await?;
    if !caller.is_person() && card.held_by == Some(HeldBy::Stop) {
        return Err(wrong_status(card, "the person stopped it", "Ask the person with send to human.").into());
    }
    assign_to(tx, caller, &participant.name, card, to, hat).await
}

/// Assigns a new task. Its creator does not have to be a lead.
pub(crate) async fn assign_to(tx: &mut Tx, caller: &Caller, from: &str, card: &Card, to: &Assignee, hat: Option<Role>) -> Result<()> {
    let agent = &to.agent;
    if card.phase != AgentKind::Coder {
        return Err(
            Refusal::invalid("assigned_to", format!("the runner does {} tasks itself", card.phase), "Assign tasks of the phase coder.").into()
        );
    }
    require_changes_code(agent)?;
    let is_new = card.contributors.assigned_to.as_deref() != Some(agent.name.as_str());
    if is_new && !caller.is_person() {
        // A task that is only too large for its context is assigned with a warning.
        workload::check(agent, Workload::Light)?;
    }
    if !card.status.is_open() {
        return Err(wrong_status(card, "it is finished", "Move it back to in_progress first, or create a new task.").into());
    }
    if card.is_approved() {
        return Err(wrong_status(card, "it is approved and waits to be merged", "Wait for the merge, or move it back to in_progress first.").into());
    }
    let hat = hat.or(card.contributors.role_hat);
    if let Some(hat) = hat {
        require_role(agent, hat)?;
    }
    let attention = attention::surviving(tx, &card.id, AttentionKind::survives_assignment).await?;
    // A plan that waits for approval keeps waiting.
    sqlx::query(
        "UPDATE tasks SET assigned_to = $2, role_hat = $3, held_by = CASE WHEN held_by = 'plan' THEN held_by END, wait_reason = NULL, failures = 0,
                last_failure = NULL, retry_at = NULL, updated_at = $4, attention = $5, old = NULL
         WHERE id = $1",
    )
    .bind(card.id.as_str())
    .bind(&agent.name)
    .bind(hat.map(Role::as_str))
    .bind(tx.now.to_string())
    .bind(attention)
    .execute(&mut tx.connection)
    .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Assigned { to: Some(agent.name.clone()) });
    if let Some(hat) = hat {
        hat::assign(tx, caller, &card.project_id, &card.id, &agent.name, hat).await?;
    }
    fence_run(tx, caller, card).await?;
    question::withdraw(tx, &card.id).await?;
    if let Some(before) = card.contributors.assigned_to.as_deref().filter(|before| *before != agent.name) {
        record_builder(tx, card, before).await?;
    }
    notify_assignment(tx, caller, from, card, to).await
}

/// Notifies the new assignee, the leads and the previous assignee.
async fn notify_assignment(tx: &mut Tx, caller: &Caller, from: &str, card: &Card, to: &Assignee) -> Result<()> {
    let name = to.agent.name.as_str();
    match card.contributors.assigned_to.as_deref() {
        Some(before) if before == name => return Ok(()),
        Some(before) => {
            post_notice(tx, caller, card, from, before, &notice_text("UNASSIGNED", card, Some(&format!("It is now assigned to {name}.")))).await?;
        }
        None => {}
    }
    if name == from {
        for lead in to.roster.leads() {
            post_notice(tx, caller, card, from, lead, &notice_text("ASSIGNED", card, Some(&format!("{name} took it.")))).await?;
        }
        return Ok(());
    }
    let content = notice_text("ASSIGNED", card, Some("Read it with get_task, and call update_task with status in_progress when you start."));
    let message = OutgoingMessage { project: &card.project_id, from, to: name, content: &content, task: Some(&card.id), reply_to: None };
    post_with_copies(tx, caller, &to.roster, message, Vec::new()).await.map(drop)
}

/// Unassigns a task without a notice, and clears the attention that its assignee left or stopped responding.
pub(crate) async fn unassign(tx: &mut Tx, caller: &Caller, card: &Card, before: &str) -> Result<()> {
    let by = HeldBy::Human;
    let attention = attention::surviving(tx, &card.id, AttentionKind::survives_unassignment).await?;
    sqlx::query(
        "UPDATE tasks SET assigned_to = NULL, role_hat = NULL, held_by = COALESCE(held_by, $2), wait_reason = NULL, updated_at = $3, attention = $4
         WHERE id = $1",
    )
    .bind(card.id.as_str())
    .bind(by.as_str())
    .bind(tx.now.to_string())
    .bind(attention)
    .execute(&mut tx.connection)
    .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Assigned { to: None });
    record_builder(tx, card, before).await?;
    if card.held_by.is_none() {
        tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Held { by });
    }
    Ok(())
}

/// Records the assignee of a started task as its builder, even if another participant started it.
async fn record_builder(tx: &mut Tx, card: &Card, assignee: &str) -> Result<()> {
    if card.status == Status::Backlog { Ok(()) } else { contribution::record(tx, &card.id, assignee, Contribution::Built).await }
}

/// Refuses an agent whose class changes no code.
pub(crate) fn require_changes_code(agent: &Agent) -> Result<(), ClassRefusal> {
    if agent.class.takes_coder_tasks() { Ok(()) } else { Err(ClassRefusal::ChangesNoCode { agent: agent.name.clone(), class: agent.class }) }
}

/// Refuses a hat that is not one of the agent's roles. An agent without roles may have any hat.
pub(crate) fn require_role(agent: &Agent, hat: Role) -> Result<(), Refusal> {
    if agent.roles.is_empty() || agent.roles.contains(&hat) {
        return Ok(());
    }
    let roles: Vec<&str> = agent.roles.iter().map(|role| role.as_str()).collect();
    Err(Refusal::invalid(
        "role_hat",
        format!("{hat} is not a role of {}: its roles are {}", agent.name, roles.join(", ")),
        "Choose one of its roles.",
    ))
}
