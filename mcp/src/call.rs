//! One call of a tool: its caller, project, task and arguments. Also registers functions as tools.
//!
//! It must not know any tool by name; `tools` does.

use std::sync::Arc;

use db::{Caller, Db};
use domain::config::live::LiveConfig;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::text::excerpt;
use rmcp::handler::server::router::tool::ToolRoute;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::bearer::Bearer;
use crate::handler::Handler;
use crate::reply::{self, Answer, Failure};
use crate::tools::arguments::ProjectArgument;
use crate::tools::definition::{Admission, ToolDefinition};

/// The most characters of an argument that an error repeats.
const QUOTED: usize = 60;

/// The context of a call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) db: Db,
    pub(crate) config: watch::Receiver<LiveConfig>,
    /// The token that the caller uses.
    pub(crate) bearer: Bearer,
    pub(crate) caller: Caller,
    /// The default task: the run's own, or the one that the human's client was started for.
    pub(crate) scope: Option<TaskId>,
    /// The common `.git` folder of the repository in which the client works, as its bridge says.
    pub(crate) git_dir: Option<String>,
}

impl Call {
    /// Returns the project that `given` names, or the only possible one.
    pub(crate) async fn project(&self, given: ProjectArgument) -> Result<ProjectId, Failure> {
        if let Some(own) = self.caller.project() {
            return match given {
                ProjectArgument::Id(other) if other != *own => Err(Refusal::not_found("project", other).into()),
                ProjectArgument::Id(_) | ProjectArgument::Words(_) | ProjectArgument::Missing => Ok(own.clone()),
            };
        }
        match given {
            // A missing project is refused, because its list would look empty.
            ProjectArgument::Id(given) => return Ok(self.db.project(&given).await?.id),
            ProjectArgument::Words(words) => {
                let problem = format!("\"{}\" is not the id of a project", excerpt(&words, QUOTED));
                return Err(Refusal::invalid("project", problem, "Name one like PROJ-001.").into());
            }
            ProjectArgument::Missing => {}
        }
        if let Some(task) = &self.scope {
            return Ok(self.db.card(task).await?.project_id);
        }
        let projects = self.db.projects().await?;
        let of_here: Vec<&ProjectId> =
            projects.iter().filter(|project| self.git_dir.as_ref() == Some(&project.git_dir)).map(|project| &project.id).collect();
        if let [only] = of_here.as_slice() {
            return Ok((*only).clone());
        }
        let mut ids: Vec<ProjectId> = projects.into_iter().map(|project| project.id).collect();
        if ids.len() == 1 {
            return Ok(ids.remove(0));
        }
        ids.sort_unstable();
        let names: Vec<&str> = ids.iter().map(ProjectId::as_str).collect();
        let problem = if ids.is_empty() { "no project exists yet".to_owned() } else { format!("it is missing, and there are {}", names.join(", ")) };
        Err(Refusal::invalid("project", problem, "Create a project on the board, or name one like PROJ-001.").into())
    }

    /// Refuses an item of another project as if it did not exist.
    pub(crate) fn require_project(&self, project: &ProjectId, what: &'static str, id: impl ToString) -> Result<(), Failure> {
        match self.caller.project() {
            Some(own) if own != project => Err(Refusal::not_found(what, id).into()),
            _ => Ok(()),
        }
    }

    /// Refuses a write to a task of another project. A run that has ended is left to the store, which refuses its write or returns the stored
    /// answer of a repeated call.
    pub(crate) async fn require_task_in_project(&self, task: &TaskId) -> Result<(), Failure> {
        if self.caller.project().is_none() || self.db.require_active_reader(&self.caller).await.is_err() {
            return Ok(());
        }
        self.require_project(&self.db.card(task).await?.project_id, "task", task)
    }

    async fn admit(&self, admission: Admission) -> Result<(), Failure> {
        if admission == Admission::ActiveReader {
            self.db.require_active_reader(&self.caller).await?;
        }
        Ok(())
    }

    /// Returns the caller's name as a participant.
    pub(crate) fn name(&self) -> Result<String, Failure> {
        self.caller.name().ok_or_else(|| AgentRefusal::NotRegistered.into())
    }
}

/// Returns the idempotency key of a call with the client's `id`: it includes the tool and a hash of the arguments, because some clients
/// restart their ids in each turn.
pub(crate) fn idempotency_key(id: &str, tool: &str, arguments: Option<&JsonObject>, scope: Option<&TaskId>) -> String {
    let mut hash = Sha256::new();
    hash.update(scope.map_or("", TaskId::as_str));
    for (name, value) in arguments.into_iter().flatten() {
        hash.update(format!(",{name:?}:{value}"));
    }
    // Half of the hash is enough to distinguish calls with the same id.
    let hash: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{tool}/{id}/{hash}")
}

/// Registers `run` as the tool of `definition`. The type of its arguments is the schema.
///
/// Identity arguments were checked before, so they are removed unless the function takes them itself.
pub(crate) fn route<A, F, Fut>(definition: &'static ToolDefinition, run: F) -> ToolRoute<Handler>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(Call, A) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Answer, Failure>> + Send + 'static,
{
    let hints = if definition.effect.reads() { ToolAnnotations::new().read_only(true) } else { ToolAnnotations::new().destructive(false) };
    let mut schema = schema::<A>();
    let arguments = definition.identity_arguments.iter().copied();
    let checked: Vec<&str> = arguments.filter(|argument| add_identity_argument(&mut schema, argument)).collect();
    let tool = Tool::new(definition.name, definition.description, Arc::new(schema)).with_annotations(hints);
    ToolRoute::new_dyn(tool, move |context: ToolCallContext<'_, Handler>| {
        let (run, checked) = (run.clone(), checked.clone());
        Box::pin(async move {
            let call = context.request_context.extensions.get::<Call>().cloned();
            let Some(call) = call else { return Err(rmcp::ErrorData::internal_error("the call has no caller", None)) };
            let mut arguments = context.arguments.unwrap_or_default();
            arguments.retain(|argument, _| !checked.contains(&argument.as_str()));
            let outcome = match parse::<A>(arguments) {
                Ok(arguments) => match call.admit(definition.admission).await {
                    Ok(()) => run(call, arguments).await,
                    Err(failure) => Err(failure),
                },
                Err(failure) => Err(failure),
            };
            Ok(reply::result(definition.name, outcome).into())
        })
    })
}

fn parse<A: DeserializeOwned>(arguments: JsonObject) -> Result<A, Failure> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        Failure::Arguments { field: (path != ".").then_some(path), problem: error.into_inner().to_string() }
    })
}

/// Adds an identity argument to a schema. False when the schema has it already.
fn add_identity_argument(schema: &mut JsonObject, argument: &str) -> bool {
    let properties = schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    match properties.as_object_mut() {
        Some(properties) if !properties.contains_key(argument) => properties.insert(argument.to_owned(), json!({"type": "string"})).is_none(),
        _ => false,
    }
}

/// Returns the schema of a tool's arguments without parts that cost tokens or confuse clients: references, formats, null defaults.
fn schema<A: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    RecursiveTransform(simplify_schema).transform(&mut schema);
    schema.remove("title");
    schema.remove("description");
    schema.as_object().cloned().unwrap_or_default()
}

fn simplify_schema(schema: &mut schemars::Schema) {
    schema.remove("format");
    schema.remove("minimum");
    // Unknown arguments are refused, and the refusal names them.
    schema.remove("additionalProperties");
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
