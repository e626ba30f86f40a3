//! Contracts: what modules promise each other, declared by name and versioned.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::ProjectId;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
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

/// One promise; unique by project, name and type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contract {
    pub id: i64,
    pub project_id: ProjectId,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ContractType,
    /// Who declared it first.
    pub owner: String,
    /// Who declared the version in force.
    pub declared_by: String,
    pub spec: String,
    /// From 1; every change of the specification is one more.
    pub version: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What a contract said from one version to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContractVersion {
    pub version: u32,
    pub spec: String,
    pub declared_by: String,
    pub created_at: Timestamp,
}

/// A declaration, new or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContract {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ContractType,
    #[schema(value_type = crate::schema::Body)]
    pub spec: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_seven_types_and_a_contract_is_written_like_this() {
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
