//! Persons: the people of a board, their roles, and what each role may do. Must not know tokens, sessions or requests.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::refusal::category::refusals;
use crate::schema::string_schema;
use crate::team::agent::{HUMAN, MAX_NAME_BYTES, NameError, full_name};
use crate::team::token::Permissions;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The number of the owner, who is the first person of every board.
pub const OWNER: i64 = 1;

/// The name of the owner where git and the system know none.
const UNNAMED_OWNER: &str = "owner";

vocabulary! {
    /// The role of a person.
    PersonRole, "role of a person" {
        /// Owns the machine: may do everything. Every board has exactly one.
        Owner = "owner",
        /// Works on boards like the owner, but does not manage persons, tokens and the sessions of others.
        Member = "member",
        /// Reads everything and changes nothing.
        Viewer = "viewer",
    }
}

/// A right that a request requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    Read,
    /// Changes of boards: create, edit, comment, message, start, stop and send back.
    Work,
    /// Decisions about work: approve, verify, finish, land, publish, answer, raise limits, change and delete projects. A companion may not.
    Decide,
    /// Persons, tokens, browser sessions of others, and what the sandbox of agents permits.
    Administer,
}

impl PersonRole {
    /// Whether a person with this role has `right`. No other place decides this.
    pub const fn may(self, right: Right) -> bool {
        match self {
            Self::Owner => true,
            Self::Member => matches!(right, Right::Read | Right::Work | Right::Decide),
            Self::Viewer => matches!(right, Right::Read),
        }
    }

    /// Returns what a token of a person with this role permits.
    pub const fn permissions(self) -> Permissions {
        Permissions { write: self.may(Right::Work), admin: self.may(Right::Administer) }
    }
}

/// A person who may use the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    /// A number from 1, which is the owner's.
    pub id: i64,
    pub name: String,
    pub role: PersonRole,
    pub created_at: Timestamp,
    /// Present when the person was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<Timestamp>,
}

/// `POST /api/persons`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPerson {
    #[schema(value_type = PersonName)]
    pub name: String,
    /// `member` or `viewer`; `member` if missing.
    #[serde(default)]
    pub role: Option<PersonRole>,
}

/// `PATCH /api/persons/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonPatch {
    /// `member` or `viewer`.
    pub role: PersonRole,
}

/// The name of a further person, for `#[schema(value_type = …)]`.
enum PersonName {}

string_schema!(
    PersonName,
    "PersonName",
    "Name of a person: letters, digits, `-`, `_` and `.`. No other person and no agent may have it, in any case.",
    "ann",
    min_length = 1,
    max_length = MAX_NAME_BYTES
);

/// Returns the name under which a person takes part: `human` for the owner, `human/ann` for others.
pub fn participant(role: PersonRole, name: &str) -> String {
    if role == PersonRole::Owner { HUMAN.to_owned() } else { format!("{HUMAN}/{name}") }
}

/// Whether a participant is a person.
pub fn is_person(participant: &str) -> bool {
    participant == HUMAN || further_name(participant).is_some()
}

/// Returns the name of a participant who is a person other than the owner.
pub fn further_name(participant: &str) -> Option<&str> {
    participant.strip_prefix(HUMAN)?.strip_prefix('/')
}

/// Returns the name of a new person, in the form that agents' names have.
///
/// # Errors
/// The name is too long, reserved, or contains other characters than letters, digits, `-`, `_` and `.`.
pub fn validate_name(given: &str) -> Result<String, NameError> {
    let given = given.trim();
    let invalid = |problem: &str| NameError::Invalid { name: given.chars().take(MAX_NAME_BYTES).collect(), problem: problem.to_owned() };
    if given.contains('/') {
        return Err(invalid("a person has no team"));
    }
    // The participant's name has the prefix too.
    if participant(PersonRole::Member, given).len() > MAX_NAME_BYTES {
        return Err(invalid(&format!("it has more than {} bytes", MAX_NAME_BYTES - HUMAN.len() - 1)));
    }
    full_name(given, None)
}

/// Returns the name of the owner from what the machine calls them, which may contain any characters.
pub fn owner_name(given: &str) -> String {
    let name: String = given.chars().filter(|letter| !letter.is_control()).collect();
    let name = name.trim();
    let name = name[..name.floor_char_boundary(MAX_NAME_BYTES)].trim_end();
    if name.is_empty() { UNNAMED_OWNER.to_owned() } else { name.to_owned() }
}

events! {
    /// A change of the persons of a board.
    PersonEvent {
        Added "person_added" { person: String, role: PersonRole }
        RoleChanged "person_role_changed" { person: String, role: PersonRole }
        /// The person's token and browser sessions are revoked.
        Removed "person_removed" { person: String }
    }
}

refusals! {
    /// Why a person may not do something, or only a person may.
    PersonRefusal {
        #[error("{action} is reserved for the human")]
        HumanOnly { action: String } => Forbidden "human-only",
        #[error("{action} is not allowed for a {role}")]
        WrongRole { role: PersonRole, action: String } => Forbidden "person-role",
        #[error("{action} is reserved for the person, and this is the token of their companion")]
        NotByCompanion { action: String } => Forbidden "companion",
    }
}

impl PersonRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::HumanOnly { .. } => "Ask the human with add_comment.".to_owned(),
            Self::WrongRole { .. } => "Ask the owner of the board to do it, or to give you another role.".to_owned(),
            Self::NotByCompanion { .. } => "Tell the person what must be decided. They do it on the board.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_the_rights_of_the_next_and_more() {
        let rights = [Right::Read, Right::Work, Right::Decide, Right::Administer];
        let of = |role: PersonRole| rights.map(|right| role.may(right));
        assert_eq!(of(PersonRole::Owner), [true, true, true, true]);
        assert_eq!(of(PersonRole::Member), [true, true, true, false]);
        assert_eq!(of(PersonRole::Viewer), [true, false, false, false]);
    }

    #[test]
    fn only_the_owner_is_the_participant_human() {
        assert_eq!(participant(PersonRole::Owner, "Ann Example"), "human");
        assert_eq!(participant(PersonRole::Viewer, "ben"), "human/ben");
        assert_eq!(["human", "human/ben", "humane", "platform/human", "mara"].map(is_person), [true, true, false, false, false]);
        assert_eq!((further_name("human/ben"), further_name("human"), further_name("humane/ben")), (Some("ben"), None, None));
    }

    #[test]
    fn name_has_the_form_of_an_agents_name() {
        assert_eq!(validate_name(" ben.b-2 "), Ok("ben.b-2".to_owned()));
        assert!(validate_name(&"b".repeat(MAX_NAME_BYTES - 6)).is_ok());
        for bad in ["", "  ", "Human", "all", "runner", "coder-TASK-001", "blue/ben", "ben b", "bén", &"b".repeat(MAX_NAME_BYTES - 5)] {
            assert!(validate_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn owner_keeps_the_name_that_the_machine_knows() {
        assert_eq!(owner_name(" Jörg\u{1b} Müller\n"), "Jörg Müller");
        assert_eq!((owner_name("\t"), owner_name(&"ä".repeat(100)).len()), ("owner".to_owned(), 80));
    }
}
