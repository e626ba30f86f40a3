//! Gives and ends orders. Must not decide who may.

use std::time::Duration;

use domain::board::status::HeldBy;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::hand_over::HandOverReason;
use domain::team::person::is_person;
use domain::warroom::lead::LeadRefusal;
use domain::warroom::raid_log::Priority;
use domain::warroom::trigger::refusal::TriggerRefusal;
use domain::warroom::trigger::{Trigger, TriggerEnd, TriggerEvent, TriggerTarget, TriggerText, TriggerWord};
use domain::warroom::zone;
use sqlx::sqlite::SqliteRow;

use super::row;
use crate::board::task::row as tasks;
use crate::board::task::write::hold;
use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::run::write::request_hand_over;
use crate::team::participant::row::Participant;
use crate::warroom::lead::row as lead;
use crate::warroom::raid_log::write as raid_log;

/// How long an agent may leave a `sitrep` without an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30 * 60);

/// The runs of a project `$1` that are at work, by task.
pub(crate) const LIVE: &str = "SELECT r.id, r.task_id FROM agent_runs r JOIN tasks t ON t.id = r.task_id
  WHERE r.completed_at IS NULL AND r.stop_requested_at IS NULL AND t.project_id = $1";
/// The run of an agent `$2` of a project `$1`, if it is at work.
pub(crate) const OF_AGENT: &str = "SELECT r.id, r.task_id FROM agents a JOIN agent_runs r ON r.id = a.run_id
  WHERE a.project_id = $1 AND a.name = $2 AND r.completed_at IS NULL AND r.stop_requested_at IS NULL";
/// The order to which an agent `$2` of a project `$1` owes an answer.
pub(crate) const OWED: &str = "SELECT * FROM triggers WHERE project_id = $1 AND word = 'sitrep' AND COALESCE(target, '') = $2 AND ended_at IS NULL";

/// An order with a checked target.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    word: TriggerWord,
    target: Option<String>,
    note: Option<String>,
}

impl Order {
    /// Reads the order at the beginning of a message to `recipient`, if there is one.
    ///
    /// # Errors
    /// When the sender is not a lead, or the recipient is not the one that the order is for.
    pub(crate) fn read(sender: &Participant, message: &str, recipient: &str, resolved: Option<&str>) -> Result<Option<Self>> {
        let Some(TriggerText { word, target, note }) = TriggerText::of(message) else { return Ok(None) };
        if !sender.is_lead {
            return Err(TriggerRefusal::LeadOnly { agent: sender.name.clone(), word }.into());
        }
        let is_for_all = recipient == domain::team::agent::EVERYONE;
        let target = match word.target() {
            TriggerTarget::All | TriggerTarget::Zone if !is_for_all => return Err(TriggerRefusal::ForAll { word }.into()),
            TriggerTarget::All => None,
            TriggerTarget::Zone => {
                let name = target.unwrap_or_default();
                zone::name::validate_name(name)?;
                Some(name.to_owned())
            }
            TriggerTarget::Agent | TriggerTarget::AgentAndSubject => {
                let agent = resolved.ok_or(TriggerRefusal::NoAgent { word })?;
                if is_person(agent) {
                    return Err(TriggerRefusal::ToPerson { word, target: agent.to_owned() }.into());
                }
                if !is_for_all && agent != recipient {
                    return Err(TriggerRefusal::OtherRecipient { word, target: agent.to_owned(), recipient: recipient.to_owned() }.into());
                }
                Some(agent.to_owned())
            }
        };
        require_reach(sender, word, target.as_deref())?;
        Ok(Some(Self { word, target, note: note.map(str::to_owned) }))
    }

    /// The word and the agent of an order to one agent.
    pub(crate) fn agent(&self) -> Option<(TriggerWord, &str)> {
        let is_for_agent = matches!(self.word.target(), TriggerTarget::Agent | TriggerTarget::AgentAndSubject);
        Some((self.word, self.target.as_deref().filter(|_| is_for_agent)?))
    }

    /// The message with the instruction of the word below it, for agents that do not know the words.
    pub(crate) fn text(&self, message: &str) -> String {
        format!("{message}\n\n({}: {})", self.word, self.word.meaning())
    }
}

/// Refuses an order by the lead of a zone to all agents, or about another zone.
pub(crate) fn require_reach(sender: &Participant, word: TriggerWord, target: Option<&str>) -> std::result::Result<(), LeadRefusal> {
    match word.target() {
        TriggerTarget::Agent | TriggerTarget::AgentAndSubject => Ok(()),
        TriggerTarget::Zone => lead::require_zone(sender, target, &format!("the order {word}")),
        TriggerTarget::All => sender.require_whole_project(&format!("the order {word}")),
    }
}

/// Gives an order: agents that the runner started hand over where it says so, and the order stays active if its word lasts. An order that is
/// active already stays as it is.
pub(crate) async fn give(tx: &mut Tx, caller: &Caller, project: &ProjectId, author: &str, order: Order) -> Result<Trigger> {
    let Order { word, target, note } = order;
    if let Some(active) = row::one_active(&mut tx.connection, project, word, target.as_deref()).await? {
        return Ok(active);
    }
    let runs = match (word, &target) {
        (TriggerWord::Retreat | TriggerWord::MoonCrash, _) => live_runs(tx, sqlx::query(LIVE).bind(project.as_str())).await?,
        (TriggerWord::FenixDown | TriggerWord::StandDown | TriggerWord::Sitrep, Some(agent)) => {
            live_runs(tx, sqlx::query(OF_AGENT).bind(project.as_str()).bind(agent)).await?
        }
        _ => Vec::new(),
    };
    // The runner notices when an agent that it started no longer answers.
    let due_at = (word == TriggerWord::Sitrep && runs.is_empty()).then(|| tx.now.after(ANSWER_WITHIN));
    let lasts = word.lasts() && (word != TriggerWord::Sitrep || due_at.is_some());
    let row = sqlx::query(
        "INSERT INTO triggers (project_id, word, target, note, author, given_at, due_at, ended_at, ended_as)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *",
    )
    .bind(project.as_str())
    .bind(word.as_str())
    .bind(&target)
    .bind(&note)
    .bind(author)
    .bind(tx.now.to_string())
    .bind(due_at.map(|at| at.to_string()))
    .bind((!lasts).then(|| tx.now.to_string()))
    .bind((!lasts).then_some(TriggerEnd::Done.as_str()))
    .fetch_one(&mut tx.connection)
    .await?;
    let trigger = row::trigger_of(&row)?;
    tx.record_without_card(caller, project, None, TriggerEvent::Given { trigger: trigger.id, word, target: target.clone() });
    if word != TriggerWord::Sitrep {
        for (run, task) in &runs {
            request_hand_over(tx, caller, run, HandOverReason::Ordered { word, by: author.to_owned() }).await?;
            let task = tasks::task(&mut tx.connection, task).await?;
            if word == TriggerWord::StandDown && task.card.status.is_open() && task.card.held_by.is_none() {
                hold(tx, caller, &task, HeldBy::Stop).await?;
            }
        }
    }
    log(tx, caller, project, &trigger).await?;
    Ok(trigger)
}

/// Ends an active order.
pub(crate) async fn end(tx: &mut Tx, caller: &Caller, trigger: &Trigger, end: TriggerEnd) -> Result<()> {
    sqlx::query("UPDATE triggers SET ended_at = $2, ended_as = $3 WHERE id = $1")
        .bind(trigger.id)
        .bind(tx.now.to_string())
        .bind(end.as_str())
        .execute(&mut tx.connection)
        .await?;
    let event = TriggerEvent::Ended { trigger: trigger.id, word: trigger.word, target: trigger.target.clone(), end };
    tx.record_without_card(caller, &trigger.project_id, None, event);
    Ok(())
}

/// Records that an agent answered its `sitrep`, if it owes one.
pub(crate) async fn answered(tx: &mut Tx, caller: &Caller, project: &ProjectId, agent: &str) -> Result<()> {
    let owed = sqlx::query(OWED).bind(project.as_str()).bind(agent).fetch_optional(&mut tx.connection).await?;
    match owed {
        Some(row) => end(tx, caller, &row::trigger_of(&row)?, TriggerEnd::Done).await,
        None => Ok(()),
    }
}

/// Ends all active orders of a project when its session ends.
pub(crate) async fn end_all(tx: &mut Tx, caller: &Caller, project: &ProjectId) -> Result<()> {
    for trigger in row::active(&mut tx.connection, project).await? {
        end(tx, caller, &trigger, TriggerEnd::Done).await?;
    }
    Ok(())
}

/// Writes an order into the raid log, so that a lead that joins later knows it.
async fn log(tx: &mut Tx, caller: &Caller, project: &ProjectId, trigger: &Trigger) -> Result<()> {
    let mut entry = format!("Order: {}", trigger.word);
    if let Some(target) = &trigger.target {
        entry = format!("{entry} {target}");
    }
    if let Some(note) = &trigger.note {
        entry = format!("{entry}: {note}");
    }
    let priority = match trigger.word {
        TriggerWord::MoonCrash => Priority::Critical,
        TriggerWord::Retreat | TriggerWord::StandDown | TriggerWord::HotZone => Priority::High,
        TriggerWord::FenixDown | TriggerWord::Sitrep | TriggerWord::Rally | TriggerWord::Recon => Priority::Normal,
    };
    raid_log::append(tx, caller, project, &entry, priority).await?;
    Ok(())
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

async fn live_runs(tx: &mut Tx, query: Query<'_>) -> Result<Vec<(RunId, TaskId)>> {
    let run_of = |row: &SqliteRow| Ok((parsed(row, "id")?, parsed(row, "task_id")?));
    query.fetch_all(&mut tx.connection).await?.iter().map(run_of).collect()
}
