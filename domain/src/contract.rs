//! Contracts: what modules promise each other, declared by name and versioned.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::ProjectId;
use crate::time::Timestamp;
use crate::word::words;

words! {
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
    pub spec: String,
}
