//! Managed oracles: what one reads when it starts, whether its earlier answers still hold, and how far it is.
//!
//! It must not know how an oracle is started. Every read is bounded by the open questions and the zones of a project.

use domain::id::{ProjectId, RunId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::text::validate_body;
use domain::warroom::oracle::NewOracleQuestion;
use domain::warroom::oracle::briefing::OracleBriefing;
use domain::warroom::oracle::expert::Expert;
use domain::warroom::oracle::note::{OracleNote, topic};

use super::{row, write};
use crate::board::project::row as projects;
use crate::board::task::row::project_of_task;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row as runs;
use crate::team::message::read as deliveries;
use crate::warroom::knowledge::{row as knowledge, write as reading};
use crate::warroom::zone::row as zones;

/// How far the run of a managed oracle is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OracleProgress {
    /// The questions that nobody has answered.
    pub open: usize,
    /// Whether it answered one.
    pub has_answered: bool,
}

impl Db {
    /// Returns the newest answers of managed oracles to the same question about these zones. The caller finds out which of them still hold.
    ///
    /// # Errors
    /// When the project does not exist, the question is not acceptable, or nobody can be asked.
    pub async fn oracle_notes(&self, project: &ProjectId, new: &NewOracleQuestion) -> Result<Vec<OracleNote>> {
        let topic = topic(&new.text()?);
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let zones = zones::of_project(&mut connection, project).await?;
        let mut notes = Vec::new();
        // Asking refuses an oracle that asks itself.
        for expert in new.recipients("", &zones)?.into_keys() {
            let Expert::Managed { zone } = expert else { continue };
            let Some(zone) = zones.iter().find(|known| known.name == zone) else { continue };
            let Some(task) = zones::oracle_task(&mut connection, project, &zone.name).await? else { continue };
            let noted = row::note(&mut connection, &task, &topic).await?;
            notes.extend(noted.map(|noted| OracleNote { question: noted.question, sha: noted.sha, paths: zone.paths.clone() }));
        }
        Ok(notes)
    }

    /// Returns what a managed oracle reads first: the open questions, and intel and traps that it has not read, which now count as read. One
    /// that does not continue a session reads them all again.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn oracle_briefing(&self, run: &RunId, continues: bool) -> Result<OracleBriefing> {
        let run = run.clone();
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::KnowledgeRead);
                let run = runs::read(&mut tx.connection, &run).await?;
                let project = project_of_task(&mut tx.connection, &run.task_id).await?;
                let zone = zones::of_oracle_task(&mut tx.connection, &run.task_id).await?;
                let name = Run::agent_name(run.phase, &run.task_id);
                let read = if continues { row::commit_read(&mut tx.connection, &run.task_id, &run.id).await? } else { None };
                if read.is_none() {
                    reading::forget_reader(tx, &project, &name).await?;
                }
                let unread = knowledge::unread(&mut tx.connection, &project, &name).await?;
                Ok(OracleBriefing {
                    knowledge: reading::read_fitting(tx, unread, &name).await?,
                    questions: row::open_of_task(&mut tx.connection, &run.task_id).await?,
                    paths: zone.as_ref().map(|zone| zone.paths.clone()).unwrap_or_default(),
                    zone: zone.map(|zone| zone.name).unwrap_or_default(),
                    read,
                    changed: Vec::new(),
                })
            })
        })
        .await
    }

    /// Takes the words with which a managed oracle ended its turn as the answer to the only question that it has received and not answered.
    /// Returns whether there was one.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn answer_in_words(&self, caller: &Caller, words: &str) -> Result<bool> {
        let Caller::Run(run) = caller.clone() else { return Ok(false) };
        let Ok(words) = validate_body("message", words) else { return Ok(false) };
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let current = runs::read(&mut tx.connection, &run.run_id).await?;
                let open = row::open_of_task(&mut tx.connection, &run.task_id).await?;
                let is_current = run.phase == AgentKind::Oracle && current.is_live() && current.stop_requested_at.is_none();
                let mut received = Vec::new();
                for question in open {
                    if !deliveries::is_pending(&mut tx.connection, question.id, &question.oracle).await? {
                        received.push(question);
                    }
                }
                let ([question], true) = (received.as_slice(), is_current) else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(false);
                };
                write::reply_for(tx, &caller, question, &words).await?;
                Ok(true)
            })
        })
        .await
    }

    /// Returns how far the run of a managed oracle is.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn oracle_progress(&self, run: &Run) -> Result<OracleProgress> {
        let mut connection = self.readers.acquire().await?;
        let open = row::open_of_task(&mut connection, &run.task_id).await?.len();
        let has_answered = row::answered_since(&mut connection, &run.task_id, run.started_at).await? > 0;
        Ok(OracleProgress { open, has_answered })
    }
}
