//! The actor of an event, as the log records it.
//!
//! Must not know permissions: the transition table and the store check them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::schema::string_schema;

/// The human, the runner, or an agent by its name (`coder-TASK-012`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Actor {
    Human,
    Runner,
    Agent(String),
}

string_schema!(Actor, "Actor", "Participant that acted: `human`, `runner`, or the name of an agent.", "coder-TASK-012", min_length = 1);

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Human => "human",
            Self::Runner => "runner",
            Self::Agent(name) => name,
        })
    }
}

impl From<String> for Actor {
    fn from(name: String) -> Self {
        match name.as_str() {
            "human" => Self::Human,
            "runner" => Self::Runner,
            _ => Self::Agent(name),
        }
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> String {
        actor.to_string()
    }
}
