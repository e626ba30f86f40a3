//! One call of a tool: who calls, within what, with which arguments; and how a function becomes a tool.
//!
//! Knows no tool by name; the table of the tools knows them.

use std::sync::Arc;

use db::{Caller, Db};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use rmcp::handler::server::router::tool::ToolRoute;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::handler::Handler;
use crate::reply::{self, Answer, Failure};
use crate::tools;

/// What a tool works with.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) db: Db,
    pub(crate) caller: Caller,
    /// The task that the call is about unless it says otherwise: the run's own, or the one that a person's client was started for.
    pub(crate) scope: Option<TaskId>,
}

impl Call {
    /// The project that `given` names, or the only one that can be meant.
    pub(crate) async fn project(&self, given: Option<ProjectId>) -> Result<ProjectId, Failure> {
        if let Some(own) = self.caller.project() {
            return match given {
                Some(other) if other != *own => Err(Refusal::not_found("project", other).into()),
                _ => Ok(own.clone()),
            };
        }
        if let Some(given) = given {
            // What is not there is said to be so, and not to be empty.
            return Ok(self.db.project(&given).await?.id);
        }
        if let Some(task) = &self.scope {
            return Ok(self.db.card(task).await?.project_id);
        }
        let mut ids: Vec<ProjectId> = self.db.projects().await?.into_iter().map(|project| project.id).collect();
        if ids.len() == 1 {
            return Ok(ids.remove(0));
        }
        ids.sort_unstable();
        let names: Vec<&str> = ids.iter().map(ProjectId::as_str).collect();
        let problem =
            if ids.is_empty() { "there is no project yet".to_owned() } else { format!("it is missing, and there are {}", names.join(", ")) };
        Err(Refusal::invalid("project", problem, "Create a project on the board, or name one like PROJ-001.").into())
    }

    /// Refuses what belongs to another project as if it did not exist.
    pub(crate) fn within(&self, project: &ProjectId, what: &'static str, id: impl ToString) -> Result<(), Failure> {
        match self.caller.project() {
            Some(own) if own != project => Err(Refusal::not_found(what, id).into()),
            _ => Ok(()),
        }
    }

    /// The same for a task that is about to be written to. Nothing is looked up for a run that is over: what it writes is refused by the
    /// store, or was written before and is answered from memory.
    pub(crate) async fn within_reach(&self, task: &TaskId) -> Result<(), Failure> {
        if self.caller.project().is_none() || self.db.require_active_reader(&self.caller).await.is_err() {
            return Ok(());
        }
        self.within(&self.db.card(task).await?.project_id, "task", task)
    }

    /// The name under which the caller takes part.
    pub(crate) fn name(&self) -> Result<String, Failure> {
        self.caller.name().ok_or_else(|| Refusal::NotRegistered.into())
    }
}

/// Under what a call is remembered that its client named `id`: with the tool, whose stored answer fits no other, and with what was asked.
/// Some clients count their calls anew in each turn, so that two calls share an id; who repeats one asks in the same words.
pub(crate) fn remembered_as(id: &str, tool: &str, arguments: Option<&JsonObject>, scope: Option<&TaskId>) -> String {
    let mut asked = Sha256::new();
    asked.update(scope.map_or("", TaskId::as_str));
    for (name, value) in arguments.into_iter().flatten() {
        asked.update(format!(",{name:?}:{value}"));
    }
    // Half of it tells two calls of one id apart.
    let asked: String = asked.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{tool}/{id}/{asked}")
}

/// What a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Writes,
}

/// Makes a tool of a function: its arguments' type is the schema, and arguments of another shape are answered with the field's name.
///
/// Arguments in which a caller may repeat its own name were judged before, so only a function that wants one has it among its arguments.
pub(crate) fn tool<A, F, Fut>(name: &'static str, description: &'static str, effect: Effect, run: F) -> ToolRoute<Handler>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(Call, A) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Answer, Failure>> + Send + 'static,
{
    let hints = match effect {
        Effect::Reads => ToolAnnotations::new().read_only(true),
        Effect::Writes => ToolAnnotations::new().destructive(false),
    };
    let mut schema = schema::<A>();
    let judged: Vec<&str> = tools::identity(name).iter().copied().filter(|argument| mention(&mut schema, argument)).collect();
    let definition = Tool::new(name, description, Arc::new(schema)).with_annotations(hints);
    ToolRoute::new_dyn(definition, move |context: ToolCallContext<'_, Handler>| {
        let (run, judged) = (run.clone(), judged.clone());
        Box::pin(async move {
            let call = context.request_context.extensions.get::<Call>().cloned();
            let Some(call) = call else { return Err(rmcp::ErrorData::internal_error("the call came without its caller", None)) };
            let mut arguments = context.arguments.unwrap_or_default();
            arguments.retain(|argument, _| !judged.contains(&argument.as_str()));
            let outcome = match parse::<A>(arguments) {
                Ok(arguments) => run(call, arguments).await,
                Err(failure) => Err(failure),
            };
            Ok(reply::result(name, outcome).into())
        })
    })
}

fn parse<A: DeserializeOwned>(arguments: JsonObject) -> Result<A, Failure> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        Failure::Arguments { field: (path != ".").then_some(path), problem: error.into_inner().to_string() }
    })
}

/// Adds the caller's own name to a schema that does not have it yet, and says whether it did.
fn mention(schema: &mut JsonObject, argument: &str) -> bool {
    let properties = schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    match properties.as_object_mut() {
        Some(properties) if !properties.contains_key(argument) => properties.insert(argument.to_owned(), json!({"type": "string"})).is_none(),
        _ => false,
    }
}

/// The schema of a tool's arguments, without what only costs tokens or trips clients: definitions by reference, formats, null defaults.
fn schema<A: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    RecursiveTransform(plain).transform(&mut schema);
    schema.remove("title");
    schema.remove("description");
    schema.as_object().cloned().unwrap_or_default()
}

fn plain(schema: &mut schemars::Schema) {
    schema.remove("format");
    if schema.get("default").is_some_and(|default| default.is_null() || default.as_array().is_some_and(Vec::is_empty)) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get("type") {
        let kept: Vec<Value> = types.iter().filter(|kind| *kind != "null").cloned().collect();
        if let [only] = kept.as_slice() {
            schema.insert("type".to_owned(), only.clone());
        }
    }
}
