//! Contracts: what modules promise each other, by name and version.

use domain::team::agent::is_short_for;
use domain::team::contract::{Contract, ContractType, NewContract};
use domain::text::excerpt;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, InProject};

/// The most bytes of specifications in one answer; what is beyond is shortened.
const LIST_BYTES: usize = 36_000;
/// How much of a shortened specification is shown, in characters.
const EXCERPT: usize = 160;

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "declare_contract",
            "Use it when others build on a name that you make: a function, an endpoint, an element's id. Declaring it again makes a new version, and the others are told.",
            Effect::Writes,
            declare_contract,
        ),
        tool(
            "list_contracts",
            "Use it before you build on what another makes: the names and specifications that were declared.",
            Effect::Reads,
            list_contracts,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeclareContract {
    name: String,
    #[schemars(schema_with = "arguments::contract_type")]
    r#type: ContractType,
    /// What it takes, gives and guarantees.
    spec: String,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn declare_contract(call: Call, given: DeclareContract) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let new = NewContract { name: given.name, kind: given.r#type, spec: given.spec };
    let contract = call.db.declare_contract(&call.caller, &project, new).await?;
    let text = format!("{} {} is at version {}; the others can read it.", contract.kind, contract.name, contract.version);
    Ok(Answer::new(text, json!({"contract": contract})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListContracts {
    #[serde(default, alias = "project_id")]
    project: InProject,
    /// Who declared it.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    owner: Option<String>,
    #[schemars(schema_with = "arguments::contract_type")]
    #[serde(default, deserialize_with = "arguments::given")]
    r#type: Option<ContractType>,
}

async fn list_contracts(call: Call, given: ListContracts) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let mut contracts = call.db.contracts(&call.project(given.project.0).await?).await?;
    contracts.retain(|contract| given.r#type.is_none_or(|kind| contract.kind == kind));
    contracts.retain(|contract| {
        given.owner.as_deref().is_none_or(|owner| [&contract.declared_by, &contract.owner].into_iter().any(|who| is_short_for(owner, who)))
    });
    let shortened = fit(&mut contracts);
    let mut text = contracts.iter().map(line).collect::<Vec<_>>().join("\n");
    if contracts.is_empty() {
        text += "No contract.";
    }
    if shortened > 0 {
        text += &format!("\nThe last {shortened} are shortened: name their owner or type to read them in full.");
    }
    let listed: Vec<Value> = contracts.iter().map(|contract| json!(contract)).collect();
    Ok(Answer::new(text, json!({"contracts": listed, "shortened": shortened})))
}

/// Whose words they are comes first, and who else promised something under the name before.
fn line(contract: &Contract) -> String {
    let Contract { kind, name, version, declared_by, owner, spec, .. } = contract;
    let first = if owner == declared_by { String::new() } else { format!(" (v1 by {owner})") };
    format!("{kind} {name} v{version} by {declared_by}{first}: {spec}")
}

/// Shortens what does not fit into one answer, and counts it. The first one always fits.
fn fit(contracts: &mut [Contract]) -> usize {
    let mut bytes = 0;
    let mut shortened = 0;
    for (place, contract) in contracts.iter_mut().enumerate() {
        bytes += contract.spec.len();
        if place > 0 && bytes > LIST_BYTES {
            contract.spec = excerpt(&contract.spec, EXCERPT);
            shortened += 1;
        }
    }
    shortened
}
