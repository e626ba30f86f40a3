//! Questions to the human: asked by a run and answered once.

pub(crate) mod row;
pub(crate) mod write;

use domain::board::attention::{Attention, AttentionKind};
use domain::board::question::{Question, QuestionEvent, QuestionRefusal};
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::task::refusal::TaskRefusal;
use domain::id::{QuestionId, RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::RunRefusal;
use domain::text;

use crate::board::attention::write as attention;
use crate::board::comment::write as comment;
use crate::board::question::row::{open, question_of};
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::error::Result;
use crate::runs::permission::write as permission;

impl Db {
    /// Asks the human a question. The card needs attention until it is answered, and the run should end its turn.
    ///
    /// # Errors
    /// When the caller may not ask, a text is invalid, or the task already has an open question.
    pub async fn ask_question(&self, caller: &Caller, question: &str, options: Vec<String>, default: Option<String>) -> Result<Question> {
        let question = question.to_owned();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let Caller::Run(run) = caller else {
                    return Err(Refusal::invalid("question", "only a running agent can ask the human", "Add a comment instead.").into());
                };
                if matches!(run.phase, AgentKind::Reviewer | AgentKind::Oracle) {
                    let hint = match run.phase {
                        AgentKind::Oracle => "Say in your answer what you do not know.",
                        _ => "Approve the work, or send it back with a comment.",
                    };
                    let (phase, action, hint) = (run.phase, "ask the human".to_owned(), hint.to_owned());
                    return Err(RunRefusal::WrongAgentKind { phase, action, hint }.into());
                }
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                if card.status != Status::InProgress {
                    let (problem, hint) = ("its work is already submitted".to_owned(), "Add a comment instead and end your turn.".to_owned());
                    return Err(TaskRefusal::WrongStatus { task: card.id, status: card.status, problem, hint }.into());
                }
                if open(&mut tx.connection, &run.task_id).await?.is_some() {
                    return Err(Refusal::invalid(
                        "question",
                        "this task already has an open question",
                        "End your turn; the answer comes with your next prompt.",
                    )
                    .into());
                }
                let question = text::validate_body("question", &question)?;
                if options.len() > 8 {
                    return Err(Refusal::invalid("options", format!("{} options were given", options.len()), "Give at most 8.").into());
                }
                let options = options.iter().map(|option| text::validate_title("options", option)).collect::<std::result::Result<Vec<_>, _>>()?;
                let default = text::validate_optional_body("default", default.as_deref())?;
                let id = QuestionId::new(tx.next_number(QuestionId::PREFIX).await?);
                sqlx::query(
                    "INSERT INTO questions (id, task_id, run_id, question, options, default_answer, asked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                )
                .bind(id.as_str())
                .bind(run.task_id.as_str())
                .bind(run.run_id.as_str())
                .bind(&question)
                .bind(serde_json::to_string(&options)?)
                .bind(default)
                .bind(tx.now.to_string())
                .execute(&mut tx.connection)
                .await?;
                tx.record_for_task(caller, &run.project_id, &run.task_id, QuestionEvent::Asked { question: id.clone() });
                let attention = Attention::new(AttentionKind::NeedsInput, text::excerpt(&question, 300));
                attention::request(tx, caller, &run.project_id, &run.task_id, attention).await?;
                let row = sqlx::query("SELECT * FROM questions WHERE id = $1").bind(id.as_str()).fetch_one(&mut tx.connection).await?;
                question_of(&row)
            })
        })
        .await
    }

    /// Answers the open question of a task. Adds question and answer to the thread, and the agent's session resumes with them.
    ///
    /// # Errors
    /// When the answer is empty or the task has no open question.
    pub async fn answer(&self, caller: &Caller, task: &TaskId, answer: &str) -> Result<Task> {
        let (caller, task, answer) = (caller.clone(), task.clone(), answer.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("answering")?;
                let answer = text::validate_body("content", &answer)?;
                let card = tasks::card(&mut tx.connection, &task).await?;
                let Some(question) = open(&mut tx.connection, &task).await? else { return Err(QuestionRefusal::NoneOpen { task }.into()) };
                sqlx::query("UPDATE questions SET answer = $2, answered_at = $3 WHERE id = $1")
                    .bind(question.id.as_str())
                    .bind(&answer)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_for_task(&caller, &card.project_id, &task, QuestionEvent::Answered { question: question.id });
                comment::insert(tx, &caller, &card.project_id, &task, &thread_entry(&answer, &question.question)).await?;
                attention::clear(tx, &caller, &card.project_id, &task).await?;
                permission::settle(tx, &caller, &task).await?;
                task_changed(tx, &caller, &card.project_id, &task).await?;
                tasks::task(&mut tx.connection, &task).await
            })
        })
        .await
    }

    /// Returns whether this run asked the human a question, answered or not.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn has_asked(&self, run: &RunId) -> Result<bool> {
        let found: Option<i64> =
            sqlx::query_scalar("SELECT 1 FROM questions WHERE run_id = $1 LIMIT 1").bind(run.as_str()).fetch_optional(&self.readers).await?;
        Ok(found.is_some())
    }

    /// Returns the open question of a task.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open_question(&self, task: &TaskId) -> Result<Option<Question>> {
        let mut connection = self.readers.acquire().await?;
        open(&mut connection, task).await
    }
}

/// Puts the answer first, because readers look for it, and shortens a question that does not fit.
fn thread_entry(answer: &str, question: &str) -> String {
    let whole = format!("{answer}\n\n(answer to: {question})");
    if whole.len() <= text::BODY_BYTES { whole } else { format!("{answer}\n\n(answer to: {})", text::excerpt(question, 300)) }
}
