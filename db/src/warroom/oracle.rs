//! Questions to the oracles of zones. A question is a message; the oracle's reply to it is the answer (`write::answered`, called by `send`).
//!
//! The zones of a project are at most 100, and all else is read by index. It must not know how long an asker waits.

mod managed;
pub(crate) mod row;
pub(crate) mod write;

pub use managed::OracleProgress;

use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::team::message::MessageEvent;
use domain::warroom::oracle::expert::Expert;
use domain::warroom::oracle::note::topic;
use domain::warroom::oracle::{NewOracleQuestion, OracleQuestion, OracleUse, message};
use serde::{Deserialize, Serialize};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::consequences::oracle_questions::{first_question, question_asked};
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::row::roster::Roster;
use crate::team::message::post_with_copies;
use crate::team::message::row::AcknowledgedMessage;
use crate::team::message::send::require_may_write;
use crate::team::message::write::{Channel, OutgoingMessage, PastDelivery, insert_past, mark_sent};
use crate::team::participant::row as participant;
use crate::warroom::zone::row as zones;

/// The most questions that one call returns.
const MAX_QUESTIONS: u32 = 200;

/// The result of asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// One for each oracle.
    pub questions: Vec<OracleQuestion>,
    /// The oracles that have left or do not respond. They read the question when they are back.
    pub away: Vec<String>,
    /// Messages of the asker's last delivery, which now count as read, oldest first.
    pub confirmed: Vec<AcknowledgedMessage>,
}

impl Db {
    /// Sends a question to each oracle of the zones that it names. A question that waits for its answer is not sent twice. A managed oracle
    /// answers from its notes if one of `notes`, the earlier questions whose answers still hold, is the same; else it is started.
    ///
    /// # Errors
    /// When the caller may not send messages now, the question is not acceptable, or nobody can be asked.
    pub async fn ask_oracle(&self, caller: &Caller, project: &ProjectId, new: NewOracleQuestion, notes: Vec<i64>) -> Result<Asked> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let roster = Roster::load(tx, &project).await?;
                let participant = participant::from_roster(tx, caller, &roster).await?;
                let question = new.text()?;
                let zones = zones::of_project(&mut tx.connection, &project).await?;
                let recipients = new.recipients(&participant.name, &zones)?;
                let mut asked = Asked { questions: Vec::new(), away: Vec::new(), confirmed: Vec::new() };
                for expert in recipients.keys() {
                    let Expert::Participant(oracle) = expert else { continue };
                    roster.mailbox(tx, &participant.name, oracle).await?;
                    if roster.is_away(oracle) {
                        asked.away.push(oracle.clone());
                    }
                }
                asked.confirmed = require_may_write(tx, caller, &participant).await?;
                let mut is_new = false;
                let asking = Asking { roster: &roster, asker: &participant.name, question: &question, notes: &notes };
                for (expert, zones) in recipients {
                    let (question, sent) = send_question(tx, caller, &asking, expert, zones).await?;
                    asked.questions.push(question);
                    is_new |= sent;
                }
                if !is_new {
                    tx.skip_event(NoEventReason::NothingChanged);
                }
                Ok(asked)
            })
        })
        .await
    }

    /// Whether all of these questions are answered, or are to an oracle that the runner does not start at the moment.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn are_settled(&self, questions: &[i64]) -> Result<bool> {
        let mut connection = self.readers.acquire().await?;
        for id in questions {
            if row::read(&mut connection, *id).await?.is_some_and(|question| question.answer.is_none() && question.waits.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the caller's questions among these. Their answers are delivered with this, as if it had read them in its inbox.
    ///
    /// # Errors
    /// When the caller is no longer current.
    pub async fn take_answers(&self, caller: &Caller, questions: Vec<i64>) -> Result<Vec<OracleQuestion>> {
        let (caller, name) = (caller.clone(), caller.name().unwrap_or_default());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                tx.require_current_run(&caller).await?;
                let mut own = Vec::new();
                for id in questions {
                    own.extend(row::read(&mut tx.connection, id).await?.filter(|question| question.asker == name));
                }
                let answers: Vec<i64> = own.iter().filter_map(|question| question.answer.as_ref().map(|answer| answer.message_id)).collect();
                // A person sees messages without checking an inbox.
                if let (Some(first), false) = (own.first(), answers.is_empty() || matches!(caller, Caller::Person(_))) {
                    let new = mark_sent(tx, &name, &answers, Channel::Response(tx.seq)).await?;
                    if new > 0 {
                        tx.record_without_card(&caller, &first.project_id, None, MessageEvent::InboxDelivered { agent: name, messages: new });
                    }
                }
                Ok(own)
            })
        })
        .await
    }

    /// Lists the questions of a project before the given one, newest first; at most 200.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn oracle_questions(&self, project: &ProjectId, before: Option<i64>, limit: u32) -> Result<Vec<OracleQuestion>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let rows = sqlx::query(row::PAGE)
            .bind(project.as_str())
            .bind(before.unwrap_or(i64::MAX))
            .bind(limit.clamp(1, MAX_QUESTIONS))
            .fetch_all(&mut *connection)
            .await?;
        rows.iter().map(row::question_of).collect()
    }

    /// Returns what the oracle of each zone answered so far, by zone. Costs the number of zones, not of questions.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn oracle_use(&self, project: &ProjectId) -> Result<Vec<OracleUse>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let rows = sqlx::query(row::USE).bind(project.as_str()).fetch_all(&mut *connection).await?;
        rows.iter().map(row::use_of).collect()
    }
}

/// A question, and who asks it.
struct Asking<'a> {
    roster: &'a Roster,
    asker: &'a str,
    question: &'a str,
    /// The earlier questions whose answers still hold.
    notes: &'a [i64],
}

/// Sends a question to one oracle, unless it waits for its answer already. Returns it with its answer, if it has one, and whether it is new.
async fn send_question(tx: &mut Tx, caller: &Caller, asking: &Asking<'_>, expert: Expert, zones: Vec<String>) -> Result<(OracleQuestion, bool)> {
    let Asking { roster, asker, question, notes } = *asking;
    let project = &roster.project;
    let (oracle, task_id) = match expert {
        Expert::Participant(name) => (name, None),
        Expert::Managed { zone } => {
            let task = task_of(tx, project, &zone).await?;
            (Run::agent_name(AgentKind::Oracle, &task), Some(task))
        }
    };
    let open = row::open(&mut tx.connection, project, asker, &oracle, question).await?;
    if let Some(open) = open.filter(|open| open.zones == zones) {
        return Ok((open, false));
    }
    let noted = match &task_id {
        Some(task) => row::note(&mut tx.connection, task, &topic(question)).await?.filter(|noted| notes.contains(&noted.question)),
        None => None,
    };
    let content = message(&zones, question);
    let post = OutgoingMessage { project, from: asker, to: &oracle, content: &content, task: None, reply_to: None };
    let id = match &noted {
        // Nobody has to read it.
        Some(_) => insert_past(tx, post, &[PastDelivery { recipient: oracle.clone(), is_copy: false, is_read: true }]).await?,
        None => post_with_copies(tx, caller, roster, post, Vec::new()).await?.id,
    };
    let (project_id, asker, question, asked_at) = (project.clone(), asker.to_owned(), question.to_owned(), tx.now);
    let asked = OracleQuestion { id, project_id, zones, asker, oracle, question, asked_at, answer: None, task_id, waits: None };
    write::insert(tx, caller, &asked).await?;
    match (&asked.task_id, noted) {
        (_, Some(noted)) => write::reply_from_notes(tx, &asked, &noted).await?,
        (Some(task), None) => question_asked(tx, task).await?,
        (None, None) => {}
    }
    Ok((row::read(&mut tx.connection, id).await?.unwrap_or(asked), true))
}

/// The task of the managed oracle of a zone.
async fn task_of(tx: &mut Tx, project: &ProjectId, zone: &str) -> Result<TaskId> {
    match zones::oracle_task(&mut tx.connection, project, zone).await? {
        Some(task) => Ok(task),
        None => first_question(tx, project, zone).await,
    }
}
