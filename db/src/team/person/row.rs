//! Reads persons. Must not change anything.

use domain::refusal::Refusal;
use domain::team::person::{Person, PersonRole, participant};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::caller::{Caller, PersonCaller};
use crate::engine::column::{optional, parsed};
use crate::engine::tx::Tx;
use crate::error::Result;

/// Returns the participants' names of all persons who can receive messages, except for the owner.
pub(crate) async fn further_participants(tx: &mut Tx) -> Result<Vec<String>> {
    let names: Vec<String> =
        sqlx::query_scalar("SELECT name FROM persons WHERE role = 'member' AND removed_at IS NULL ORDER BY id").fetch_all(&mut tx.connection).await?;
    Ok(names.iter().map(|name| participant(PersonRole::Member, name)).collect())
}

/// Returns the names of all persons who were not removed, except for the owner.
pub(crate) async fn further_names(tx: &mut Tx) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar("SELECT name FROM persons WHERE role <> 'owner' AND removed_at IS NULL ORDER BY id").fetch_all(&mut tx.connection).await?)
}

/// Returns a person who was not removed.
pub(crate) async fn read(connection: &mut SqliteConnection, id: i64) -> Result<Person> {
    find(connection, id).await?.ok_or_else(|| Refusal::not_found("person", id).into())
}

/// Returns a person, unless there is none or they were removed.
pub(crate) async fn find(connection: &mut SqliteConnection, id: i64) -> Result<Option<Person>> {
    let row = sqlx::query("SELECT * FROM persons WHERE id = $1 AND removed_at IS NULL").bind(id).fetch_optional(connection).await?;
    row.as_ref().map(person_of).transpose()
}

pub(crate) fn caller_of(person: &Person) -> Caller {
    Caller::Person(PersonCaller { id: person.id, name: person.name.clone(), role: person.role, is_companion: false })
}

pub(super) fn person_of(row: &SqliteRow) -> Result<Person> {
    Ok(Person {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: parsed(row, "role")?,
        created_at: parsed(row, "created_at")?,
        removed_at: optional(row, "removed_at")?,
    })
}
