//! The actor of an event, as the log records it.
//!
//! Must not know permissions: the transition table and the store check them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::schema::string_schema;
use crate::team::agent::{HUMAN, RUNNER};
use crate::team::person::further_name;

/// A person, the runner, or an agent by its name (`coder-TASK-012`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Actor {
    /// The owner of the board: `human`.
    Owner,
    /// Another person by name: `human/ann`.
    Person(String),
    Runner,
    Agent(String),
}

string_schema!(
    Actor,
    "Actor",
    "Participant that acted: `human` (the owner), `human/ann` (another person), `runner`, or the name of an agent.",
    "coder-TASK-012",
    min_length = 1
);

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str(HUMAN),
            Self::Person(name) => write!(f, "{HUMAN}/{name}"),
            Self::Runner => f.write_str(RUNNER),
            Self::Agent(name) => f.write_str(name),
        }
    }
}

impl From<String> for Actor {
    fn from(name: String) -> Self {
        match name.as_str() {
            HUMAN => Self::Owner,
            RUNNER => Self::Runner,
            _ => further_name(&name).map(|person| Self::Person(person.to_owned())).unwrap_or(Self::Agent(name)),
        }
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> String {
        actor.to_string()
    }
}
