//! One call of a tool: who calls, within what, with which arguments; and how a function becomes a tool.
//!
//! Knows no tool by name.

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
use serde_json::Value;

use crate::handler::Handler;
use crate::reply::{self, Answer, Failure};

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
        if let Caller::Run(run) = &self.caller {
            return match given {
                Some(other) if other != run.project_id => Err(Refusal::not_found("project", other).into()),
                _ => Ok(run.project_id.clone()),
            };
        }
        if let Some(given) = given {
            return Ok(given);
        }
        if let Some(task) = &self.scope {
            return Ok(self.db.card(task).await?.project_id);
        }
        let mut ids: Vec<ProjectId> = self.db.projects().await?.into_iter().map(|project| project.id).collect();
        if ids.len() == 1 {
            return Ok(ids.remove(0));
        }
        let names: Vec<&str> = ids.iter().map(ProjectId::as_str).collect();
        let problem =
            if ids.is_empty() { "there is no project yet".to_owned() } else { format!("it is missing, and there are {}", names.join(", ")) };
        Err(Refusal::invalid("project_id", problem, "Create a project on the board, or name one like PROJ-001.").into())
    }

    /// Refuses tasks of other projects as if they did not exist.
    pub(crate) fn within(&self, project: &ProjectId, task: &TaskId) -> Result<(), Failure> {
        match &self.caller {
            Caller::Run(run) if run.project_id != *project => Err(Refusal::not_found("task", task).into()),
            _ => Ok(()),
        }
    }
}

/// What a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Writes,
}

/// Makes a tool of a function: its arguments' type is the schema, and arguments of another shape are answered with the field's name.
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
    let definition = Tool::new(name, description, schema::<A>()).with_annotations(hints);
    ToolRoute::new_dyn(definition, move |context: ToolCallContext<'_, Handler>| {
        let run = run.clone();
        Box::pin(async move {
            let call = context.request_context.extensions.get::<Call>().cloned();
            let Some(call) = call else { return Err(rmcp::ErrorData::internal_error("the call came without its caller", None)) };
            let outcome = match parse::<A>(context.arguments.unwrap_or_default()) {
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

/// The schema of a tool's arguments, without what only costs tokens or trips clients: definitions by reference, formats, null defaults.
fn schema<A: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    RecursiveTransform(plain).transform(&mut schema);
    schema.remove("title");
    schema.remove("description");
    Arc::new(schema.as_object().cloned().unwrap_or_default())
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
