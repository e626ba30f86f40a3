//! Prompts that a person picks in their client. Names and arguments are those of shared-context-server; the texts are those of [`Prompts`].
//!
//! It must not know tools.

use db::{Caller, Db};
use domain::prompt::Prompts;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::resource::{Uri, session_value};

const SETUP: &str = "setup-collaboration";
const DEBUG: &str = "debug-session";

/// The most characters of an argument.
const MAX_ARGUMENT: usize = 1_000;

/// Lists the prompts, which are the same for everyone.
pub(crate) fn list() -> ListPromptsResult {
    let argument = |name: &str, description: &str, required| PromptArgument::new(name).with_description(description).with_required(required);
    let setup = vec![
        argument("purpose", "The purpose of the collaboration.", true),
        argument("agent_types", "The agents that take part, separated by commas.", false),
        argument("session_id", "An existing session.", false),
    ];
    let debug = vec![argument("session_id", "The session.", true)];
    ListPromptsResult::with_all_items(vec![
        Prompt::new(SETUP, Some("Sets up a session in which several agents work together."), Some(setup)),
        Prompt::new(DEBUG, Some("Finds out why the agents in a session make no progress."), Some(debug)),
    ])
    .with_ttl_ms(0)
    .with_cache_scope(CacheScope::Private)
}

/// Returns a prompt with its arguments filled in.
///
/// # Errors
/// When it is unknown, an argument is missing or invalid, or the session does not exist for the caller.
pub(crate) async fn get(db: &Db, prompts: &Prompts, caller: &Caller, request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let text = match request.name.as_str() {
        SETUP => {
            let text = prompts.text(domain::prompt::Prompt::SetupCollaboration);
            // shared-context-server has had two names for it.
            let agents = argument(request, "agent_types")?.or(argument(request, "expert_roles")?);
            let session = argument(request, "session_id")?;
            text.replace("{purpose}", &required(request, "purpose")?)
                .replace("{agents}", agents.as_deref().unwrap_or("as many as the purpose needs"))
                .replace("{session}", session.as_deref().unwrap_or("a new one"))
        }
        DEBUG => {
            let given = required(request, "session_id")?;
            let uri: Uri = format!("session://{given}").parse()?;
            uri.admit(db, caller).await.map_err(|error| uri.failed(error))?;
            let Uri::Session(session) = &uri else { return Err(ErrorData::invalid_params("session_id is not the id of a session", None)) };
            let value = session_value(db, caller, session).await.map_err(|error| uri.failed(error))?;
            // Within JSON, `<` means the same in this form, and no message ends the block.
            let value = format!("{value:#}").replace('<', "\\u003c");
            prompts.text(domain::prompt::Prompt::DebugSession).replace("{id}", session.as_str()).replace("{session}", &value)
        }
        _ => {
            let given: String = request.name.chars().take(60).collect();
            return Err(ErrorData::invalid_params(format!("prompt {given} does not exist. The prompts are {SETUP} and {DEBUG}."), None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text.trim_end())]))
}

fn required(request: &GetPromptRequestParams, name: &str) -> Result<String, ErrorData> {
    argument(request, name)?.ok_or_else(|| ErrorData::invalid_params(format!("the argument {name} is missing"), None))
}

/// Returns an argument on one line; none when it is missing or blank.
fn argument(request: &GetPromptRequestParams, name: &str) -> Result<Option<String>, ErrorData> {
    let invalid = |problem: String| Err(ErrorData::invalid_params(format!("the argument {name} {problem}"), None));
    match request.arguments.as_ref().and_then(|arguments| arguments.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().count() > MAX_ARGUMENT => invalid(format!("has more than {MAX_ARGUMENT} characters")),
        Some(Value::String(text)) => Ok(Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())),
        Some(_) => invalid("is not text".to_owned()),
    }
}
