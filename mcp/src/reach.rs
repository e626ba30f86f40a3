//! Calls of a general about another project: it acts there as the agent of its name.
//!
//! It must not know who is a general; the store does.

use db::{Caller, Db};
use domain::id::ProjectId;
use domain::team::token::TokenReach;
use rmcp::model::{CallToolRequestParams, JsonObject, Tool};
use serde_json::{Value, json};

use crate::bearer::Bearer;
use crate::tools;
use crate::tools::definition::Effect;

const PROJECT: &str = "project";

/// Returns as whom a call acts. Takes the project out of a call whose tool has no such argument.
///
/// # Errors
/// When the store does not let the caller into the project that the call names.
pub(crate) async fn entered(db: &Db, acting: &Bearer, tool: Option<&Tool>, request: &mut CallToolRequestParams) -> db::Result<Caller> {
    let (Caller::Agent(general), TokenReach::All, Some(arguments)) = (&acting.caller, acting.reach, &mut request.arguments) else {
        return Ok(acting.caller.clone());
    };
    let named = arguments.get(PROJECT).and_then(Value::as_str).and_then(|text| text.trim().parse::<ProjectId>().ok());
    if tool.is_some_and(|tool| !has_project(&tool.input_schema)) {
        arguments.remove(PROJECT);
    }
    let is_about_token = tools::definition(&request.name).is_some_and(|definition| definition.effect == Effect::Renews);
    match named.filter(|named| *named != general.project_id && !is_about_token) {
        Some(project) => db.enter_project(general, &project).await,
        None => Ok(acting.caller.clone()),
    }
}

/// Lists the argument with which a general names another project.
pub(crate) fn add_argument(properties: &mut JsonObject) {
    properties.insert(PROJECT.to_owned(), json!({"type": "string", "description": "A project other than your own."}));
}

/// Tells a general about its projects; others nothing. Costs the number of projects.
///
/// # Errors
/// When the store fails.
pub(crate) async fn projects(db: &Db, acting: &Bearer) -> db::Result<Option<String>> {
    if acting.reach == TokenReach::Project {
        return Ok(None);
    }
    let projects: Vec<String> = db.projects().await?.into_iter().map(|project| format!("{} ({})", project.id, project.title)).collect();
    Ok(Some(format!("You lead in all projects. Name the one that a call is about in its argument {PROJECT}: {}.", projects.join(", "))))
}

fn has_project(schema: &JsonObject) -> bool {
    schema.get("properties").and_then(|properties| properties.get(PROJECT)).is_some()
}
