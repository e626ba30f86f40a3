//! Ids such as `PROJ-001`, `TASK-001` and `RUN-001`: short, pronounceable and cheap in tokens.
//!
//! Must not know what exists: only the form of an id is checked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::schema::string_schema;

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not {kind} id: expected something like {example}")]
pub struct InvalidId {
    pub given: String,
    pub kind: &'static str,
    pub example: &'static str,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        string_schema!(
            $name,
            stringify!($name),
            concat!("Id of ", $kind, "."),
            concat!($prefix, "-001"),
            pattern = concat!("^", $prefix, "-[0-9]{3,12}$")
        );

        impl $name {
            /// The prefix before the dash.
            pub const PREFIX: &'static str = $prefix;

            /// Creates the id with this number. Numbers start at 1.
            pub fn new(number: u64) -> Self {
                Self(format!("{}-{number:03}", $prefix))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The number after the dash.
            pub fn number(&self) -> u64 {
                self.0[$prefix.len() + 1..].parse().unwrap_or_default()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(given: &str) -> Result<Self, InvalidId> {
                let invalid = || InvalidId { given: given.chars().take(60).collect(), kind: $kind, example: concat!($prefix, "-001") };
                let digits = given.strip_prefix($prefix).and_then(|rest| rest.strip_prefix('-')).ok_or_else(invalid)?;
                let canonical = (3..=12).contains(&digits.len())
                    && digits.bytes().all(|byte| byte.is_ascii_digit())
                    && (digits.len() == 3 || !digits.starts_with('0'));
                if canonical { Ok(Self(given.to_owned())) } else { Err(invalid()) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(given: String) -> Result<Self, InvalidId> {
                given.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

id!(
    /// A project.
    ProjectId, "PROJ", "a project"
);
id!(
    /// A task.
    TaskId, "TASK", "a task"
);
id!(
    /// A run.
    RunId, "RUN", "a run"
);
id!(
    /// A comment in a task's thread.
    CommentId, "NOTE", "a comment"
);
id!(
    /// A goal.
    GoalId, "GOAL", "a goal"
);
id!(
    /// A question from an agent to the human.
    QuestionId, "ASK", "a question"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_parse_their_own_text() {
        for number in [1, 12, 999, 1000, 123_456] {
            let id = TaskId::new(number);
            assert_eq!(id.to_string().parse::<TaskId>(), Ok(id.clone()));
            assert_eq!(id.number(), number);
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for given in ["", "TASK", "TASK-", "TASK-1", "TASK-0001", "TASK-01a", "task-001", "PROJ-001", "TASK-001 ", "TASK-001\0", "../TASK-001"] {
            assert!(given.parse::<TaskId>().is_err(), "{given:?}");
        }
    }

    #[test]
    fn error_contains_an_example() {
        assert_eq!("x".parse::<RunId>().unwrap_err().to_string(), "\"x\" is not a run id: expected something like RUN-001");
    }
}
