//! Contracts: what somebody promised, every version of it, and the word to the others when it changes.
//!
//! Nobody's unread messages keep a promise from being told.

use domain::event::Event;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::team::contract::{Contract, ContractVersion, NewContract};
use domain::text;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::board::task::read::{count, parsed};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::message::{OutgoingMessage, post};
use crate::team::participant;
use crate::team::participant::Participant;

/// With who declared the version in force.
const SELECT: &str = "SELECT c.*, v.declared_by FROM contracts c JOIN contract_versions v ON v.contract_id = c.id AND v.version = c.version";

impl Db {
    /// Declares a contract, or changes the specification of one that is known by this name and type: then its version is one more.
    /// Everybody else is told. A specification that is in force already changes nothing.
    ///
    /// # Errors
    /// When the name or the specification is not acceptable, or the caller has not registered.
    pub async fn declare_contract(&self, caller: &Caller, project: &ProjectId, new: NewContract) -> Result<Contract> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let voice = participant::load(&mut tx.connection, caller, &project).await?;
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
                let contract = write(tx, &voice, &NewContract { name, spec, ..new }).await?;
                notify(tx, caller, &voice, &contract).await?;
                Ok(contract)
            })
        })
        .await
    }

    /// The contracts of a project as they are in force, by type and name.
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
    /// When there is no such contract.
    pub async fn contract(&self, id: i64) -> Result<Contract> {
        read(&mut *self.readers.acquire().await?, id).await
    }

    /// Everything that a contract ever said, oldest first.
    ///
    /// # Errors
    /// When there is no such contract.
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

/// The first version, or the next one. Whoever declared it first stays its owner.
async fn write(tx: &mut Tx, voice: &Participant, new: &NewContract) -> Result<Contract> {
    let row = sqlx::query(
        "INSERT INTO contracts (project_id, name, type, owner, spec, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT (project_id, name, type) DO UPDATE SET spec = $5, version = version + 1, updated_at = $6 RETURNING *, $4 AS declared_by",
    )
    .bind(voice.project.as_str())
    .bind(&new.name)
    .bind(new.kind.as_str())
    .bind(&voice.name)
    .bind(&new.spec)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    let contract = contract_of(&row)?;
    sqlx::query("INSERT INTO contract_versions (contract_id, version, spec, declared_by, created_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(contract.id)
        .bind(contract.version)
        .bind(&contract.spec)
        .bind(&voice.name)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(contract)
}

/// The log, and the word to everybody else. It names the contract and holds its specification.
async fn notify(tx: &mut Tx, caller: &Caller, voice: &Participant, contract: &Contract) -> Result<()> {
    let Contract { id, name, kind, version, .. } = contract;
    let event = Event::ContractDeclared { contract: *id, name: name.clone(), contract_type: *kind, version: *version };
    tx.record_without_card(caller, &contract.project_id, None, event);
    let content = format!("[CONTRACT v{version}] {name} ({kind}): {}", contract.spec);
    post(
        tx,
        caller,
        OutgoingMessage { project: &contract.project_id, from: &voice.name, to: EVERYONE, content: &content, task: None, reply_to: None },
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
