//! Words and unions of the tools' arguments that a schema has to spell out.

use std::fmt;

use domain::id::TaskId;
use domain::task::Dependency;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A task that must be done first: by its place in the list that is created, from 0, or by its id.
#[derive(Debug, Clone)]
pub(crate) struct DependsOn(pub(crate) Dependency);

impl<'de> Deserialize<'de> for DependsOn {
    // By hand, because the derived error of an untagged union names nothing that a caller could correct.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DependsOnVisitor)
    }
}

struct DependsOnVisitor;

impl Visitor<'_> for DependsOnVisitor {
    type Value = DependsOn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the place of a task in this list, from 0, or an id like \"TASK-001\"")
    }

    fn visit_u64<E: Error>(self, place: u64) -> Result<DependsOn, E> {
        u32::try_from(place).map(|place| DependsOn(Dependency::Index(place))).map_err(|_| E::custom("no list is that long"))
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<DependsOn, E> {
        id.parse::<TaskId>().map(|id| DependsOn(Dependency::Task(id))).map_err(E::custom)
    }
}

impl JsonSchema for DependsOn {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DependsOn".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["integer", "string"]})
    }
}

/// The roles as a schema.
pub(crate) fn phase(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["planner", "coder", "reviewer", "orchestrator"]})
}

/// The roles for which a task can be made: the others come by themselves.
pub(crate) fn created_phase(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["coder", "planner"]})
}

/// The statuses to which a tool can move a task.
pub(crate) fn status(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["in_review", "done", "in_progress", "cancelled", "backlog"]})
}

/// The roles in which an agent speaks.
pub(crate) fn author_role(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["planner", "coder", "reviewer", "orchestrator", "human"]})
}
