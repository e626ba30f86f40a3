//! Words, numbers and unions of the tools' arguments that a schema has to spell out, and how freely they are taken.
//!
//! Models send numbers as text, and an empty text or a zero where they mean nothing. What was meant is decided here; whether it is allowed
//! is not.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use domain::board::task::Dependency;
use domain::id::{ProjectId, TaskId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

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

/// The project that a call is about, where it can be another than the only one that can be meant.
#[derive(Debug, Default)]
pub(crate) struct InProject(pub(crate) Option<ProjectId>);

impl<'de> Deserialize<'de> for InProject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        given(deserializer).map(Self)
    }
}

impl JsonSchema for InProject {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InProject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "For a person with several projects."})
    }
}

/// A word or an id that may be missing; an empty text counts as missing.
pub(crate) fn given<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    match Option::<String>::deserialize(deserializer)? {
        Some(text) if !text.trim().is_empty() => text.trim().parse().map(Some).map_err(D::Error::custom),
        _ => Ok(None),
    }
}

/// Words, names or ids: a list, or a text with commas between them.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    deserializer.deserialize_any(ListVisitor(PhantomData))
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: FromStr<Err: fmt::Display>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of texts, or one text with commas")
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().map_err(E::custom)).collect()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(part) = parts.next_element::<String>()? {
            list.push(part.trim().parse().map_err(A::Error::custom)?);
        }
        Ok(list)
    }
}

/// A whole number that may be missing, also as text; an empty text counts as missing.
pub(crate) fn number<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64>,
{
    let Some(number) = deserializer.deserialize_any(NumberVisitor)? else { return Ok(None) };
    T::try_from(number).map(Some).map_err(|_| D::Error::custom(format!("{number} is out of range")))
}

/// The same where zero, too, means that nothing was given.
pub(crate) fn number_from_one<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64> + Default + PartialEq,
{
    Ok(number(deserializer)?.filter(|number| *number != T::default()))
}

/// A number that something is known by.
pub(crate) fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    number_from_one(deserializer)?.ok_or_else(|| D::Error::custom("it is missing"))
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_unit<E: Error>(self) -> Result<Option<i64>, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<i64>, E> {
        Ok(Some(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<i64>, E> {
        i64::try_from(number).map(Some).map_err(|_| E::custom(format!("{number} is out of range")))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<i64>, E> {
        match text.trim() {
            "" => Ok(None),
            // Messages and handshakes are shown as #12.
            digits => digits.trim_start_matches('#').parse().map(Some).map_err(|_| E::custom(format!("{text:?} is not a whole number"))),
        }
    }
}

/// Yes or no, also as text.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    deserializer.deserialize_any(FlagVisitor)
}

struct FlagVisitor;

impl Visitor<'_> for FlagVisitor {
    type Value = Option<bool>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_unit<E: Error>(self) -> Result<Option<bool>, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Option<bool>, E> {
        Ok(Some(flag))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<bool>, E> {
        match text.trim().to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(E::custom(format!("{text:?} is neither true nor false"))),
        }
    }
}

fn text_of(words: &[&str]) -> Schema {
    json_schema!({"type": "string", "enum": words})
}

/// The phases as a schema.
pub(crate) fn phase(_: &mut SchemaGenerator) -> Schema {
    text_of(&["planner", "coder", "reviewer", "orchestrator"])
}

/// The phases for which a task can be made: the others come by themselves.
pub(crate) fn created_phase(_: &mut SchemaGenerator) -> Schema {
    text_of(&["coder", "planner"])
}

/// The statuses to which a tool can move a task.
pub(crate) fn status(_: &mut SchemaGenerator) -> Schema {
    text_of(&["in_review", "done", "in_progress", "cancelled", "backlog"])
}

/// The stages to which a tool can bring a task.
pub(crate) fn stage(_: &mut SchemaGenerator) -> Schema {
    text_of(&["pending", "assigned", "in_progress", "review", "completed", "failed", "verified"])
}

/// The roles in which an agent speaks.
pub(crate) fn author_role(_: &mut SchemaGenerator) -> Schema {
    text_of(&["planner", "coder", "reviewer", "orchestrator", "human"])
}

/// What can be promised.
pub(crate) fn contract_type(_: &mut SchemaGenerator) -> Schema {
    text_of(&["function", "dom_id", "css_class", "file_path", "api_endpoint", "event", "other"])
}

/// What can happen to a minion.
pub(crate) fn minion_status(_: &mut SchemaGenerator) -> Schema {
    text_of(&["spawned", "completed", "failed"])
}

#[cfg(test)]
mod tests;
