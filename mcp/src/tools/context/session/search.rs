//! The tool that searches the messages of a context session. Name, arguments and JSON are those of shared-context-server.
//!
//! It must not know how a search ranks.

use std::time::Instant;

use db::SessionSearchQuery;
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, SessionHit};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::text::excerpt;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::message;
use crate::call::{Call, route};
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, Need};

/// The characters of a message that a result shows beside it.
const PREVIEW: usize = 150;
/// The scores from which a result counts as high and as medium.
const HIGH: f64 = 80.0;
const MEDIUM: f64 = 60.0;

pub(in crate::tools::context) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "search_context",
    description: "Call this before you explore, to find messages of a session by their words; typing errors are forgiven. Without session_id, it searches that of your plan or project.",
    effect: Effect::Searches,
    admission: Admission::ActiveReader,
    audience: Audience {
        managed: Managed::of(EVERY_KIND)
            .hiding(&[
                ("session_id", Need::Never),
                ("fuzzy_threshold", Need::Never),
                ("limit", Need::Never),
                ("search_metadata", Need::Never),
                ("search_scope", Need::Never),
            ])
            .adapted(search_briefly),
        human: true,
        external: External::Everyone,
        invite: false,
    },
    identity_arguments: &[],
    route: |definition| route(definition, search_context),
}];

fn search_briefly(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this before you explore: it searches what other agents found."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchContext {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    query: String,
    /// The lowest score, 0 to 100. Default 60.
    #[schemars(with = "Option<f64>")]
    #[serde(default, deserialize_with = "arguments::decimal")]
    fuzzy_threshold: Option<f64>,
    /// Default 10, at most 100.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    limit: Option<u32>,
    #[schemars(with = "Option<bool>")]
    #[serde(default, deserialize_with = "arguments::flag")]
    search_metadata: Option<bool>,
    /// all, public or private.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    search_scope: Option<String>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn search_context(call: Call, given: SearchContext) -> Result<Answer, Failure> {
    let begun = Instant::now();
    let scope = given.search_scope.unwrap_or_else(|| "all".to_owned());
    let visibility = match scope.as_str() {
        "all" => None,
        "public" => Some(Visibility::Public),
        "private" => Some(Visibility::Private),
        _ => return Err(Refusal::invalid("search_scope", format!("{scope:?} is unknown"), "Use all, public or private.").into()),
    };
    let session = call.session(given.session_id, ProjectArgument::Missing).await?;
    let query = SessionSearchQuery {
        text: given.query.clone(),
        threshold: given.fuzzy_threshold,
        limit: given.limit,
        metadata: given.search_metadata.unwrap_or(true),
        visibility,
    };
    let hits = call.db.search_session(&call.caller, &session, &query).await?;
    let likest_last = hits.iter().rev().map(|hit| json!(hit)).collect();
    let kept = &hits[..page::newest_that_fit(likest_last).0.len()];
    let data = json!({
        "success": true,
        "results": kept.iter().map(result).collect::<Vec<_>>(),
        "query": excerpt(&given.query, PREVIEW),
        "threshold": given.fuzzy_threshold.unwrap_or(MEDIUM),
        "search_scope": scope,
        "message_count": kept.len(),
        "left_out": hits.len() - kept.len(),
        "search_time_ms": begun.elapsed().as_millis(),
    });
    let brief = || match kept {
        [] => "Nothing was found.".to_owned(),
        kept => kept.iter().map(|hit| message::line(&hit.message)).collect::<Vec<_>>().join("\n"),
    };
    Ok(call.shared_context(brief, data))
}

fn result(hit: &SessionHit) -> Value {
    let relevance = match hit.score {
        score if score >= HIGH => "high",
        score if score >= MEDIUM => "medium",
        _ => "low",
    };
    json!({"message": hit.message, "score": hit.score, "match_preview": excerpt(&hit.message.content, PREVIEW), "relevance": relevance})
}
