//! The tool that asks the oracle of a zone, and waits for the answer while its call lasts.
//!
//! It must not know whom a question reaches, or which reply is the answer.

use std::path::Path;
use std::time::Duration;

use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::warroom::oracle::{NewOracleQuestion, OracleAnswer, OracleQuestion};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::call::{Call, route};
use crate::handler::ASK_ORACLE;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CAN_ASK, Managed, Need, remove_descriptions};

/// How long a call waits for answers. Less than the bridge's timeout for a call.
const WAIT: Duration = Duration::from_secs(100);

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: ASK_ORACLE,
    description: "Call this before you explore a zone that has an oracle: it knows the code, and answers with files and lines. Several zones ask each of their oracles. The call waits for the answer; a later one arrives as a message.",
    effect: Effect::Writes,
    admission: Admission::Store,
    audience: Audience {
        managed: Managed::of(CAN_ASK).listed_for(Need::Oracle).adapted(ask_briefly),
        human: true,
        external: External::Everyone,
        invite: false,
    },
    identity_arguments: &["agent_name"],
    route: |definition| route(definition, ask_oracle),
}];

fn ask_briefly(_: AgentKind, properties: &mut JsonObject) -> &'static str {
    remove_descriptions(properties);
    "Call this before you explore unknown code: the oracle of its zone answers. `zone`: a name or a file."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskOracle {
    /// Zones, or files in them, separated by commas.
    #[schemars(with = "String")]
    #[serde(deserialize_with = "arguments::list")]
    zone: Vec<String>,
    question: String,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn ask_oracle(call: Call, given: AskOracle) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let new = NewOracleQuestion { zones: given.zone, question: given.question };
    let notes = notes(&call, &project, &new).await?;
    let asked = call.db.ask_oracle(&call.caller, &project, new, notes).await?;
    let ids: Vec<i64> = asked.questions.iter().map(|question| question.id).collect();
    let present = asked.questions.iter().filter(|question| !asked.away.contains(&question.oracle)).map(|question| question.id).collect();
    wait(&call, present).await?;
    let questions = call.db.take_answers(&call.caller, ids).await?;
    let shown: Vec<String> = questions.iter().map(|question| text(question, asked.away.contains(&question.oracle))).collect();
    let answers: Vec<Value> =
        questions.iter().filter_map(|question| question.answer.as_ref()).map(|answer| json!({"id": answer.message_id})).collect();
    Ok(Answer::new(shown.join("\n\n"), json!({"questions": questions, "messages": answers})))
}

/// The earlier answers of managed oracles that still hold. Where the repository cannot be read, the oracle reads it.
async fn notes(call: &Call, project: &ProjectId, new: &NewOracleQuestion) -> Result<Vec<i64>, Failure> {
    // Asking refuses a bad question.
    let notes = call.db.oracle_notes(project, new).await.unwrap_or_default();
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let project = call.db.project(project).await?;
    Ok(repo::holding_notes(Path::new(&project.git_dir), &project.integration_branch, notes).await.unwrap_or_default())
}

/// Waits until all of these questions are answered or cannot be now, or the time of the call is up.
async fn wait(call: &Call, questions: Vec<i64>) -> Result<(), Failure> {
    let deadline = Instant::now() + WAIT;
    // Subscribed first, so that no answer is missed between reading and waiting.
    let mut commits = call.db.subscribe();
    while !call.db.are_settled(&questions).await? {
        let Ok(Ok(())) = timeout_at(deadline, commits.changed()).await else { break };
    }
    Ok(())
}

fn text(question: &OracleQuestion, is_away: bool) -> String {
    let OracleQuestion { id, oracle, answer, .. } = question;
    match (answer, is_away) {
        (Some(OracleAnswer { failed: true, text, .. }), _) => format!("{oracle} on {}: {text}", question.zones.join(", ")),
        (Some(answer), _) => {
            let noted = answer.noted_at.map(|at| format!(", from its notes of {at}; no file of the zone changed since")).unwrap_or_default();
            format!("{oracle} on {} (#{}{noted}):\n{}", question.zones.join(", "), answer.message_id, answer.text)
        }
        (None, false) if question.waits.is_some() => {
            let why = question.waits.as_deref().unwrap_or_default();
            format!("{oracle} is not started yet ({why}), and answers question #{id} later. Continue without the answer, or read the files yourself.")
        }
        (None, true) => format!("{oracle} is away and reads question #{id} later. Continue without the answer, or read the files yourself."),
        (None, false) => format!("{oracle} has not answered question #{id} yet. Continue; the answer arrives as a message."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_answer_tells_the_asker_to_go_on() {
        let question: OracleQuestion = serde_json::from_value(json!({
            "id": 7, "project_id": "PROJ-001", "zones": ["audio"], "asker": "mara", "oracle": "ivy", "question": "Why?",
            "asked_at": "2026-01-31T09:05:00.000Z", "answer": null,
        }))
        .unwrap();
        assert_eq!(text(&question, false), "ivy has not answered question #7 yet. Continue; the answer arrives as a message.");
        assert_eq!(text(&question, true), "ivy is away and reads question #7 later. Continue without the answer, or read the files yourself.");
        let waits = OracleQuestion { waits: Some("paused by a human".to_owned()), ..question };
        let why =
            "ivy is not started yet (paused by a human), and answers question #7 later. Continue without the answer, or read the files yourself.";
        assert_eq!(text(&waits, false), why);
    }

    #[test]
    fn answer_from_notes_says_so() {
        let question: OracleQuestion = serde_json::from_value(json!({
            "id": 7, "project_id": "PROJ-001", "zones": ["audio"], "asker": "mara", "oracle": "oracle-TASK-009", "question": "Why?",
            "asked_at": "2026-01-31T09:05:00.000Z", "answer": {
                "message_id": 8, "text": "Because", "answered_at": "2026-01-31T09:05:00.000Z", "context_tokens": null,
                "noted_at": "2026-01-30T09:05:00.000Z",
            },
        }))
        .unwrap();
        let shown = "oracle-TASK-009 on audio (#8, from its notes of 2026-01-30T09:05:00.000Z; no file of the zone changed since):\nBecause";
        assert_eq!(text(&question, false), shown);
    }
}
