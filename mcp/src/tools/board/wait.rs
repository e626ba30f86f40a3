//! The tool that waits until a task reaches a state, while its call lasts.
//!
//! It must not know which states end a wait.

use std::time::Duration;

use domain::board::awaited::{Awaited, WaitEnd};
use domain::board::card::Card;
use domain::id::TaskId;
use domain::refusal::Refusal;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use crate::call::{Call, route};
use crate::format;
use crate::reply::{Answer, Failure};
use crate::tools::arguments;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

/// The longest wait in seconds. Less than the bridge's timeout for a call.
const MAX_SECONDS: u64 = 100;

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "wait_for",
    description: "Call this to wait until a task is finished, in review, needs attention or changes, instead of asking repeatedly. It also returns when only a person can continue. Call it again if the time is up.",
    effect: Effect::Reads,
    admission: Admission::ActiveReader,
    audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
    identity_arguments: &[],
    route: |definition| route(definition, wait_for),
}];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WaitFor {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// Default: finished.
    #[schemars(schema_with = "states")]
    #[serde(default, deserialize_with = "arguments::given")]
    until: Option<Awaited>,
    /// 1 to 100, which is the default.
    #[serde(default)]
    timeout_seconds: Option<u64>,
}

fn states(_: &mut SchemaGenerator) -> Schema {
    arguments::one_of(Awaited::ALL)
}

/// Each commit meanwhile costs the reading of one card.
async fn wait_for(call: Call, given: WaitFor) -> Result<Answer, Failure> {
    let seconds = given.timeout_seconds.unwrap_or(MAX_SECONDS);
    if !(1..=MAX_SECONDS).contains(&seconds) {
        let hint = format!("Give 1 to {MAX_SECONDS}, and call it again if the time is up.");
        return Err(Refusal::invalid("timeout_seconds", format!("{seconds} is out of range"), hint).into());
    }
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let awaited = given.until.unwrap_or(Awaited::Finished);
    // Subscribed first, so that no change is missed between reading and waiting.
    let mut commits = call.db.subscribe();
    let before = call.db.card(&given.task_id).await?;
    call.require_project(&before.project_id, "task", &before.id)?;
    let mut now = before.clone();
    loop {
        if let Some(end) = awaited.end(&before, &now) {
            return Ok(answer(&now, awaited, Some(end)));
        }
        let Ok(Ok(())) = timeout_at(deadline, commits.changed()).await else { return Ok(answer(&now, awaited, None)) };
        now = call.db.card(&given.task_id).await?;
    }
}

fn answer(card: &Card, awaited: Awaited, end: Option<WaitEnd>) -> Answer {
    let outcome = match end {
        Some(WaitEnd::Met) => "The wait is over.",
        Some(WaitEnd::NeedsPerson) => "It needs a person before it can continue. Tell them.",
        Some(WaitEnd::Finished) => "It is finished, so it will not reach this state.",
        None => "The time is up. Call wait_for again to keep waiting.",
    };
    let is_met = end == Some(WaitEnd::Met);
    let data = json!({"task": format::data(card, &[]), "until": awaited, "met": is_met, "timed_out": end.is_none()});
    Answer::new(format!("{}{outcome}", format::lines(card, &[])), data)
}
