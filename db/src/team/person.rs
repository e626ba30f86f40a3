//! Persons: the owner, made at the first start, and those whom the owner adds; their roles and permanent tokens.
//!
//! Must not know what a role may do, which `domain` defines, and how a token is stored on the disk.

pub(crate) mod row;

use domain::refusal::Refusal;
use domain::team::agent::have_same_short_name;
use domain::team::person::{NewPerson, OWNER, Person, PersonEvent, PersonRole, Right, owner_name, participant, validate_name};
use domain::team::token::{TokenAudience, TokenEvent, validate_lifetime};
use domain::wire::NewPersonToken;

use crate::caller::Caller;
use crate::consequences::person_left::person_left;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::browser_session;
use crate::team::token::{self, StoredTerms, TokenOwner};

use self::row::{caller_of, person_of, read};

/// The terms of the owner's token.
const PERMANENT: StoredTerms = StoredTerms::for_person(TokenAudience::Both, None);

impl Db {
    /// Makes `token` the owner's, as at each start. The first call makes the owner, who is called `name`. Another token than before revokes
    /// that one and the owner's browser sessions; returns how many those were.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn set_owner(&self, name: &str, token: &str) -> Result<u64> {
        let (name, hash) = (owner_name(name), token::hash(token));
        self.write(move |tx| {
            Box::pin(async move {
                sqlx::query("INSERT INTO persons (id, name, role, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING")
                    .bind(OWNER)
                    .bind(&name)
                    .bind(PersonRole::Owner.as_str())
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                let owner = read(&mut tx.connection, OWNER).await?;
                let known: Option<i64> = sqlx::query_scalar("SELECT 1 FROM tokens WHERE kind = 'human' AND person_id = $1 AND hash = $2")
                    .bind(OWNER)
                    .bind(&hash)
                    .fetch_optional(&mut tx.connection)
                    .await?;
                if known.is_some() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(0);
                }
                replace_token(tx, &caller_of(&owner), OWNER, &hash, PERMANENT).await
            })
        })
        .await
    }

    /// Replaces the caller's own permanent token, and signs the caller's browsers out. Returns how many those were.
    ///
    /// # Errors
    /// When the caller is not the owner, whose token is the only one that a file keeps.
    pub async fn replace_own_token(&self, caller: &Caller, token: &str) -> Result<u64> {
        let (caller, hash) = (caller.clone(), token::hash(token));
        self.write(move |tx| {
            Box::pin(async move {
                let id = caller.person(Right::Administer, "replacing the permanent token")?.id;
                replace_token(tx, &caller, id, &hash, PERMANENT).await
            })
        })
        .await
    }

    /// Creates a person's token. An earlier one is revoked, with the person's browser sessions.
    ///
    /// # Errors
    /// When the caller is not the owner, the lifetime is out of range, or the person does not exist or is the owner.
    pub async fn create_person_token(&self, caller: &Caller, id: i64, given: NewPersonToken) -> Result<String> {
        let (caller, new) = (caller.clone(), token::new_token());
        let hash = token::hash(&new);
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("creating tokens")?;
                if read(&mut tx.connection, id).await?.role == PersonRole::Owner {
                    let hint = "Replace the owner's token with `vibe-relay token rotate`, which also writes it to its file.";
                    return Err(Refusal::invalid("person", "the owner's token is in a file", hint).into());
                }
                let expires_at = given.expires_in.map(|seconds| validate_lifetime(seconds, tx.now)).transpose()?;
                let terms = StoredTerms::for_person(given.audience.unwrap_or(TokenAudience::Both), expires_at);
                replace_token(tx, &caller, id, &hash, terms).await.map(drop)
            })
        })
        .await?;
        Ok(new)
    }

    /// Returns the persons of the board, the owner first. Removed ones are not among them.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn persons(&self) -> Result<Vec<Person>> {
        sqlx::query("SELECT * FROM persons WHERE removed_at IS NULL ORDER BY id").fetch_all(&self.readers).await?.iter().map(person_of).collect()
    }

    /// Returns a person who was not removed.
    ///
    /// # Errors
    /// When the person does not exist.
    pub async fn person(&self, id: i64) -> Result<Person> {
        read(&mut *self.readers.acquire().await?, id).await
    }

    /// Adds a person, or restores one who was removed under the same name.
    ///
    /// # Errors
    /// When the caller is not the owner, or the name is invalid or that of another person or of an agent.
    pub async fn add_person(&self, caller: &Caller, new: NewPerson) -> Result<Person> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("adding persons")?;
                let name = validate_name(&new.name).map_err(|error| Refusal::invalid("name", error.to_string(), "Choose a name such as ann."))?;
                let role = new.role.unwrap_or(PersonRole::Member);
                require_further_role(role)?;
                require_free_name(tx, &name).await?;
                let row = sqlx::query(
                    "INSERT INTO persons (name, role, created_at) VALUES ($1, $2, $3)
                     ON CONFLICT (lower(name)) DO UPDATE SET role = $2, removed_at = NULL
                     RETURNING *",
                )
                .bind(&name)
                .bind(role.as_str())
                .bind(tx.now.to_string())
                .fetch_one(&mut tx.connection)
                .await?;
                let person = person_of(&row)?;
                tx.record(&caller, PersonEvent::Added { person: person.name.clone(), role });
                Ok(person)
            })
        })
        .await
    }

    /// Changes what a person may do, at once for their token and browser sessions, which stay valid.
    ///
    /// # Errors
    /// When the caller is not the owner, the person does not exist or is the owner, or the role is the owner's.
    pub async fn change_person_role(&self, caller: &Caller, id: i64, role: PersonRole) -> Result<Person> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("changing roles")?;
                require_further_role(role)?;
                let person = read(&mut tx.connection, id).await?;
                if person.role == PersonRole::Owner {
                    return Err(Refusal::invalid("person", "the role of the owner cannot be changed", "Change the role of another person.").into());
                }
                if person.role == role {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(person);
                }
                sqlx::query("UPDATE persons SET role = $2 WHERE id = $1").bind(id).bind(role.as_str()).execute(&mut tx.connection).await?;
                // Cached callers have the old role.
                tx.tokens_revoked = true;
                if !role.may(Right::Work) {
                    person_left(tx, &participant(role, &person.name)).await?;
                }
                tx.record(&caller, PersonEvent::RoleChanged { person: person.name.clone(), role });
                Ok(Person { role, ..person })
            })
        })
        .await
    }

    /// Removes a person, and revokes their token and browser sessions. The history keeps their name.
    ///
    /// # Errors
    /// When the caller is not the owner, or the person does not exist or is the owner.
    pub async fn remove_person(&self, caller: &Caller, id: i64) -> Result<()> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("removing persons")?;
                let person = read(&mut tx.connection, id).await?;
                if person.role == PersonRole::Owner {
                    return Err(Refusal::invalid("person", "the owner of a board cannot be removed", "Remove another person.").into());
                }
                sqlx::query("UPDATE persons SET removed_at = $2 WHERE id = $1").bind(id).bind(tx.now.to_string()).execute(&mut tx.connection).await?;
                token::revoke_person_token(tx, id).await?;
                browser_session::revoke_all_of(tx, &caller, id).await?;
                person_left(tx, &participant(person.role, &person.name)).await?;
                tx.record(&caller, PersonEvent::Removed { person: person.name });
                Ok(())
            })
        })
        .await
    }
}

/// Replaces the token of a person, and signs their browsers out.
async fn replace_token(tx: &mut Tx, caller: &Caller, id: i64, hash: &str, terms: StoredTerms) -> Result<u64> {
    token::revoke_person_token(tx, id).await?;
    token::insert(tx, hash, TokenOwner::Person(id), terms).await?;
    tx.record(caller, TokenEvent::Created {});
    browser_session::revoke_all_of(tx, caller, id).await
}

/// Refuses the role of the owner.
fn require_further_role(role: PersonRole) -> Result<(), Refusal> {
    if role == PersonRole::Owner {
        return Err(Refusal::invalid("role", "a board has only one owner", "Choose the role member or viewer."));
    }
    Ok(())
}

/// Refuses the name of a current person, and one that could be mistaken for an agent's.
async fn require_free_name(tx: &mut Tx, name: &str) -> Result<()> {
    let person: Option<String> = sqlx::query_scalar("SELECT name FROM persons WHERE lower(name) = lower($1) AND removed_at IS NULL")
        .bind(name)
        .fetch_optional(&mut tx.connection)
        .await?;
    let agents: Vec<String> = sqlx::query_scalar("SELECT DISTINCT name FROM agents WHERE run_id IS NULL").fetch_all(&mut tx.connection).await?;
    let taken = person.or_else(|| agents.into_iter().find(|agent| have_same_short_name(agent, name)));
    taken.map_or(Ok(()), |taken| {
        let hint = "Choose another name; `vibe-relay person list` and the page Agents show the ones in use.";
        Err(Refusal::invalid("name", format!("the name {taken} is taken"), hint).into())
    })
}
