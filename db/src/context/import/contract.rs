//! Imports contracts with their last version. Must not know the other kinds of records.

use domain::team::contract::{ContractEvent, ContractType};
use domain::text;
use domain::time::Timestamp;

use super::source::Record;
use super::write::{Target, Written};
use crate::engine::tx::Tx;
use crate::error::Result;

pub(super) struct ContractItem {
    name: String,
    kind: ContractType,
    owner: String,
    spec: String,
    version: u32,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
}

impl ContractItem {
    /// # Errors
    /// Why it cannot be imported.
    pub(super) fn of(record: &Record) -> Result<Self, String> {
        let (name, spec) = (record.text("name").unwrap_or_default(), record.text("spec").unwrap_or_default());
        Ok(Self {
            name: text::validate_title("name", &name).map_err(|error| error.to_string())?,
            kind: record.text("type").unwrap_or_default().parse::<ContractType>().map_err(|error| error.to_string())?,
            owner: record.text("owner").unwrap_or_default(),
            spec: text::validate_body("spec", &spec).map_err(|error| error.to_string())?,
            version: record.integer("version").and_then(|version| u32::try_from(version).ok()).unwrap_or(1),
            created_at: record.time("created_at"),
            updated_at: record.time("updated_at"),
        })
    }
}

/// Writes a contract, unless the project has one with its name and type.
pub(super) async fn write(tx: &mut Tx, target: &Target, item: ContractItem) -> Result<Written> {
    let now = tx.now;
    let (owner, created) = (target.name(&item.owner), item.created_at.unwrap_or(now).min(now));
    let updated = item.updated_at.unwrap_or(created).min(now);
    let id: Option<i64> = sqlx::query_scalar(
        "INSERT INTO contracts (project_id, name, type, owner, spec, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (project_id, name, type) DO NOTHING RETURNING id",
    )
    .bind(target.project.as_str())
    .bind(&item.name)
    .bind(item.kind.as_str())
    .bind(&owner)
    .bind(&item.spec)
    .bind(item.version)
    .bind(created.to_string())
    .bind(updated.to_string())
    .fetch_optional(&mut tx.connection)
    .await?;
    let Some(id) = id else {
        return Ok(Written::Skipped(format!("the project has a contract {} of this type", item.name)));
    };
    sqlx::query("INSERT INTO contract_versions (contract_id, version, spec, declared_by, created_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(id)
        .bind(item.version)
        .bind(&item.spec)
        .bind(&owner)
        .bind(updated.to_string())
        .execute(&mut tx.connection)
        .await?;
    let event = ContractEvent::Declared { contract: id, name: item.name, contract_type: item.kind, version: item.version };
    tx.record_without_card(&target.caller, &target.project, None, event);
    Ok(Written::As(id.to_string()))
}
