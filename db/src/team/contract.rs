//! Contracts: named interfaces that agents declare, with every version and a broadcast for each change.
//!
//! Unread messages do not block a declaration.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::team::contract::{Contract, ContractEvent, ContractVersion, NewContract};
use domain::text;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::caller::Caller;
use crate::engine::column::{count, parsed};
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::message::{OutgoingMessage, post};
use crate::team::participant::row as participant;
use crate::team::participant::row::Participant;

/// Contracts with the agent that declared the current version.
const SELECT: &str = "SELECT c.*, v.declared_by FROM contracts c JOIN contract_versions v ON v.contract_id = c.id AND v.version = c.version";

impl Db {
    /// Declares a contract, or adds a version to the one with the same name and type. A broadcast announces the change.
    /// Repeating the current specification changes nothing.
    ///
    /// # Errors
    /// When the name or the specification is not acceptable, or the caller has not registered.
    pub async fn declare_contract(&self, caller: &Caller, project: &ProjectId, new: NewContract) -> Result<Contract> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                let (name, spec) = (text::validate_title("name", &new.name)?, text::validate_body("spec", &new.spec)?);
                let known = sqlx::query(AssertSqlSafe(format!("{SELECT} WHERE c.project_id = $1 AND c.name = $2 AND c.type = $3")))
                    .bind(project.as_str())
                    .bind(&name)
                    .bind(new.kind.as_str())
                    .fetch_optional(&mut tx.connection)
                    .await?;
                let known = known.as_ref().map(contract_of).transpose()?;
                if let Some(known) = known.filter(|known| known.spec == spec) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(known);
                }
                let contract = write(tx, &participant, &NewContract { name, spec, ..new }).await?;
                notify(tx, caller, &participant, &contract).await?;
                Ok(contract)
            })
        })
        .await
    }

    /// Lists the current contracts of a project by type and name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn contracts(&self, project: &ProjectId) -> Result<Vec<Contract>> {
        let rows = sqlx::query(AssertSqlSafe(format!("{SELECT} WHERE c.project_id = $1 ORDER BY c.type, c.name")))
            .bind(project.as_str())
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(contract_of).collect()
    }

    /// # Errors
    /// When the contract does not exist.
    pub async fn contract(&self, id: i64) -> Result<Contract> {
        read(&mut *self.readers.acquire().await?, id).await
    }

    /// Lists every version of a contract, oldest first.
    ///
    /// # Errors
    /// When the contract does not exist.
    pub async fn contract_versions(&self, id: i64) -> Result<Vec<ContractVersion>> {
        let mut connection = self.readers.acquire().await?;
        read(&mut connection, id).await?;
        let rows =
            sqlx::query("SELECT * FROM contract_versions WHERE contract_id = $1 ORDER BY version").bind(id).fetch_all(&mut *connection).await?;
        rows.iter()
            .map(|row| {
                Ok(ContractVersion {
                    version: count(row, "version")?,
                    spec: row.try_get("spec")?,
                    declared_by: row.try_get("declared_by")?,
                    created_at: parsed(row, "created_at")?,
                })
            })
            .collect()
    }
}

/// Stores the first or the next version. The agent that declared the first one stays the owner.
async fn write(tx: &mut Tx, participant: &Participant, new: &NewContract) -> Result<Contract> {
    let row = sqlx::query(
        "INSERT INTO contracts (project_id, name, type, owner, spec, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT (project_id, name, type) DO UPDATE SET spec = $5, version = version + 1, updated_at = $6 RETURNING *, $4 AS declared_by",
    )
    .bind(participant.project.as_str())
    .bind(&new.name)
    .bind(new.kind.as_str())
    .bind(&participant.name)
    .bind(&new.spec)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    let contract = contract_of(&row)?;
    sqlx::query("INSERT INTO contract_versions (contract_id, version, spec, declared_by, created_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(contract.id)
        .bind(contract.version)
        .bind(&contract.spec)
        .bind(&participant.name)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(contract)
}

/// Records the declaration and broadcasts the new specification.
async fn notify(tx: &mut Tx, caller: &Caller, participant: &Participant, contract: &Contract) -> Result<()> {
    let Contract { id, name, kind, version, .. } = contract;
    let event = ContractEvent::Declared { contract: *id, name: name.clone(), contract_type: *kind, version: *version };
    tx.record_without_card(caller, &contract.project_id, None, event);
    let content = format!("[CONTRACT v{version}] {name} ({kind}): {}", contract.spec);
    post(
        tx,
        caller,
        OutgoingMessage { project: &contract.project_id, from: &participant.name, to: EVERYONE, content: &content, task: None, reply_to: None },
    )
    .await?;
    Ok(())
}

async fn read(connection: &mut SqliteConnection, id: i64) -> Result<Contract> {
    let row = sqlx::query(AssertSqlSafe(format!("{SELECT} WHERE c.id = $1"))).bind(id).fetch_optional(connection).await?;
    contract_of(&row.ok_or_else(|| Refusal::not_found("contract", id))?)
}

fn contract_of(row: &SqliteRow) -> Result<Contract> {
    Ok(Contract {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        name: row.try_get("name")?,
        kind: parsed(row, "type")?,
        owner: row.try_get("owner")?,
        declared_by: row.try_get("declared_by")?,
        spec: row.try_get("spec")?,
        version: count(row, "version")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
    })
}
