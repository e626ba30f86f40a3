//! Tools that declare and list contracts: named interfaces with versions.
//!
//! It must not know who is notified of a new version.

use domain::runs::agent_kind::AgentKind;
use domain::team::agent::is_short_for;
use domain::team::contract::{Contract, ContractType, NewContract};
use domain::text::excerpt;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CAN_DECLARE, EVERY_KIND, Managed, Need, remove_descriptions};

/// The most bytes of full specifications in one answer. Later ones are shortened.
const MAX_LIST_BYTES: usize = 36_000;
/// The most characters of a shortened specification.
const MAX_EXCERPT: usize = 160;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "declare_contract",
        description: "Call this when others build on a name that you create or change: a function, an endpoint, an element id.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(CAN_DECLARE).adapted(declare_briefly), human: true, external: External::Everyone, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, declare_contract),
    },
    ToolDefinition {
        name: "list_contracts",
        description: "Call this before you build on another agent's work, to read the declared names and specifications.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience {
            managed: Managed::of(EVERY_KIND).hiding(&[("type", Need::Never), ("owner", Need::Never)]).adapted(list_briefly),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &[],
        route: |definition| route(definition, list_contracts),
    },
];

fn declare_briefly(_: AgentKind, properties: &mut JsonObject) -> &'static str {
    remove_descriptions(properties);
    "Call this when you create or change a name that others build on."
}

fn list_briefly(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this before you build on the work of other agents."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeclareContract {
    name: String,
    #[schemars(schema_with = "arguments::contract_type")]
    r#type: ContractType,
    /// Inputs, outputs and guarantees.
    spec: String,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn declare_contract(call: Call, given: DeclareContract) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let new = NewContract { name: given.name, kind: given.r#type, spec: given.spec };
    let contract = call.db.declare_contract(&call.caller, &project, new).await?;
    let text = format!("{} {} has version {}. The other agents can read it.", contract.kind, contract.name, contract.version);
    Ok(Answer::new(text, json!({"contract": contract})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListContracts {
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
    /// The agent that declared it.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    owner: Option<String>,
    #[schemars(schema_with = "arguments::contract_type")]
    #[serde(default, deserialize_with = "arguments::given")]
    r#type: Option<ContractType>,
}

async fn list_contracts(call: Call, given: ListContracts) -> Result<Answer, Failure> {
    let mut contracts = call.db.contracts(&call.project(given.project).await?).await?;
    contracts.retain(|contract| given.r#type.is_none_or(|kind| contract.kind == kind));
    contracts.retain(|contract| {
        given.owner.as_deref().is_none_or(|owner| [&contract.declared_by, &contract.owner].into_iter().any(|who| is_short_for(owner, who)))
    });
    let shortened = fit(&mut contracts);
    let mut text = contracts.iter().map(line).collect::<Vec<_>>().join("\n");
    if contracts.is_empty() {
        text += "No contracts.";
    }
    if shortened > 0 {
        text += &format!("\nThe last {shortened} are shortened: filter by owner or type to read them in full.");
    }
    let listed: Vec<Value> = contracts.iter().map(|contract| json!(contract)).collect();
    Ok(Answer::new(text, json!({"contracts": listed, "shortened": shortened})))
}

/// Words a contract with the author of this version, and the first owner if that is another agent.
fn line(contract: &Contract) -> String {
    let Contract { kind, name, version, declared_by, owner, spec, .. } = contract;
    let first = if owner == declared_by { String::new() } else { format!(" (v1 by {owner})") };
    format!("{kind} {name} v{version} by {declared_by}{first}: {spec}")
}

/// Shortens the specifications that do not fit into one answer, except the first, and returns their number.
fn fit(contracts: &mut [Contract]) -> usize {
    let mut bytes = 0;
    let mut shortened = 0;
    for (place, contract) in contracts.iter_mut().enumerate() {
        bytes += contract.spec.len();
        if place > 0 && bytes > MAX_LIST_BYTES {
            contract.spec = excerpt(&contract.spec, MAX_EXCERPT);
            shortened += 1;
        }
    }
    shortened
}
