//! Contracts: named, versioned interfaces that agents declare.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::ProjectId;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The kind of interface.
    ContractType, "contract type" {
        Function = "function",
        DomId = "dom_id",
        CssClass = "css_class",
        FilePath = "file_path",
        ApiEndpoint = "api_endpoint",
        Event = "event",
        Other = "other",
    }
}

/// A contract, unique by project, name and type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contract {
    pub id: i64,
    pub project_id: ProjectId,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ContractType,
    /// The participant that declared the first version.
    pub owner: String,
    /// The participant that declared the current version.
    pub declared_by: String,
    pub spec: String,
    /// From 1; each change of the specification increments it.
    pub version: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// One version of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractVersion {
    pub version: u32,
    pub spec: String,
    pub declared_by: String,
    pub created_at: Timestamp,
}

/// The arguments for a declaration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContract {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ContractType,
    #[schema(value_type = crate::text_schema::Body)]
    pub spec: String,
}

events! {
    /// A change of a contract.
    ContractEvent {
        Declared "contract_declared" { contract: i64, name: String, contract_type: ContractType, version: u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_has_a_stable_json_form() {
        let types: Vec<&str> = ContractType::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(types, ["function", "dom_id", "css_class", "file_path", "api_endpoint", "event", "other"]);
        let at = Timestamp::from_milliseconds(1_769_850_300_000);
        let (name, spec) = ("save".to_owned(), "fn save()".to_owned());
        let contract = Contract {
            id: 3,
            project_id: ProjectId::new(1),
            name: name.clone(),
            kind: ContractType::Function,
            owner: "mara".to_owned(),
            declared_by: "ole".to_owned(),
            spec: spec.clone(),
            version: 2,
            created_at: at,
            updated_at: at,
        };
        let version = ContractVersion { version: 1, spec: spec.clone(), declared_by: "ole".to_owned(), created_at: at };
        let lines = [serde_json::to_string(&contract).unwrap(), serde_json::to_string(&version).unwrap()];
        assert_eq!(serde_json::from_str::<Contract>(&lines[0]).unwrap(), contract);
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"id":3,"project_id":"PROJ-001","name":"save","type":"function","owner":"mara","declared_by":"ole","spec":"fn save()","version":2,"created_at":"2026-01-31T09:05:00.000Z","updated_at":"2026-01-31T09:05:00.000Z"}
        {"version":1,"spec":"fn save()","declared_by":"ole","created_at":"2026-01-31T09:05:00.000Z"}
        "#);
        let new: NewContract = serde_json::from_str(r#"{"name": "save", "type": "function", "spec": "fn save()"}"#).unwrap();
        assert_eq!(new, NewContract { name, kind: ContractType::Function, spec });
        assert!(serde_json::from_str::<NewContract>(r#"{"name": "save", "type": "promise", "spec": "x"}"#).is_err());
    }
}
