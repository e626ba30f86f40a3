//! Lists tokens by their names: those that persons gave, and those of the runs at work.

use domain::refusal::Refusal;
use domain::runs::run::Run;
use domain::team::person::{PersonRole, participant};
use domain::team::token::{Permissions, Token, TokenKind, TokenName};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::end_of;
use crate::caller::Caller;
use crate::engine::act;
use crate::engine::column::{optional, parsed};
use crate::engine::open::Db;
use crate::engine::presence::Presence;
use crate::error::Result;

/// The most tokens of a page.
const MAX_PAGE: i64 = 200;

/// The columns of a token with its holder.
macro_rules! columns {
    () => {
        "k.*, p.name AS person, p.role, r.phase, r.task_id, COALESCE(k.project_id, t.project_id) AS project,
         COALESCE(a.heartbeat_at, a.last_seen) AS seen"
    };
}

/// The holders of tokens.
macro_rules! holders {
    () => {
        "LEFT JOIN persons p ON p.id = k.person_id LEFT JOIN tasks t ON t.id = r.task_id
         LEFT JOIN agents a ON a.project_id = k.project_id AND a.name = k.agent_name"
    };
}

/// The tokens that persons gave, newest first, `$1` of them after the first `$2`.
pub(crate) const GIVEN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tokens k LEFT JOIN agent_runs r ON r.id = k.run_id ",
    holders!(),
    " WHERE k.kind <> 'run' ORDER BY k.created_at DESC, k.hash DESC LIMIT $1 OFFSET $2"
);

/// The tokens of the runs at work. The cross join makes the runs come first: the tokens of all that ended stay.
pub(crate) const OF_RUNS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM agent_runs r CROSS JOIN tokens k ",
    holders!(),
    " WHERE k.run_id = r.id AND r.completed_at IS NULL ORDER BY k.created_at"
);

/// The token with the name `$1`.
pub(crate) const BY_NAME: &str =
    concat!("SELECT ", columns!(), " FROM tokens k LEFT JOIN agent_runs r ON r.id = k.run_id ", holders!(), " WHERE substr(k.hash, 1, 12) = $1");

impl Db {
    /// Returns a page of the tokens, newest first, after the first `after`, and the value of `after` for the next page. The first page begins
    /// with the tokens of the runs at work.
    ///
    /// # Errors
    /// When the caller is not the owner.
    pub async fn tokens(&self, caller: &Caller, after: u32) -> Result<(Vec<Token>, Option<i64>)> {
        caller.require_owner("listing tokens")?;
        let mut connection = self.readers.acquire().await?;
        let mut rows = if after == 0 { sqlx::query(OF_RUNS).fetch_all(&mut *connection).await? } else { Vec::new() };
        let given = sqlx::query(GIVEN).bind(MAX_PAGE).bind(i64::from(after)).fetch_all(&mut *connection).await?;
        let next = (given.len() as i64 == MAX_PAGE).then(|| i64::from(after) + MAX_PAGE);
        rows.extend(given);
        Ok((rows.iter().map(|row| token_of(row, &self.presence)).collect::<Result<_>>()?, next))
    }
}

/// Reads the token with a name.
pub(super) async fn read(connection: &mut SqliteConnection, presence: &Presence, name: &TokenName) -> Result<Token> {
    let row = sqlx::query(BY_NAME).bind(name.as_str()).fetch_optional(connection).await?;
    token_of(&row.ok_or_else(|| Refusal::not_found("token", name))?, presence)
}

fn token_of(row: &SqliteRow, presence: &Presence) -> Result<Token> {
    let kind: TokenKind = parsed(row, "kind")?;
    let role: Option<PersonRole> = optional(row, "role")?;
    let person: Option<String> = row.try_get("person")?;
    let project = optional(row, "project")?;
    let agent: Option<String> = row.try_get("agent_name")?;
    let holder = match kind {
        TokenKind::Human | TokenKind::Companion => role.zip(person).map(|(role, name)| participant(role, &name)),
        TokenKind::Run => Some(Run::agent_name(parsed(row, "phase")?, &parsed(row, "task_id")?)),
        TokenKind::Agent => agent,
        TokenKind::Invite => None,
    };
    let seen = project.as_ref().zip(holder.as_ref()).and_then(|(project, name)| presence.of(project, name).last);
    Ok(Token {
        name: act::name(row.try_get("hash")?).parse()?,
        kind,
        audience: parsed(row, "audience")?,
        reach: parsed(row, "reach")?,
        permissions: match (kind, optional(row, "permissions")?.or(role.map(PersonRole::permissions))) {
            // It does what its person may, except to decide.
            (TokenKind::Companion, Some(of_person)) => Permissions { admin: false, ..of_person },
            (_, found) => found.unwrap_or(Permissions::READ),
        },
        created_at: parsed(row, "created_at")?,
        expires_at: end_of(row)?,
        last_used_at: seen.max(optional(row, "seen")?),
        project_id: project,
        holder,
    })
}
