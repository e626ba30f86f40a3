//! Deserializes arguments leniently, and writes domain's vocabularies into schemas.
//!
//! Models send numbers as text, and empty text or zero for a missing value. It must not decide whether a value is allowed.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use domain::board::comment::AuthorRole;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::Dependency;
use domain::context::memory::MemoryScope;
use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::contract::ContractType;
use domain::team::minion::MinionStatus;
use domain::team::role::Role;
use domain::warroom::battle_plan::{BattlePlanScope, BattlePlanStatus};
use domain::warroom::class::AgentClass;
use domain::warroom::lead::LeadRole;
use domain::warroom::raid_log::Priority;
use domain::warroom::transport::Transport;
use domain::warroom::trigger::TriggerWord;
use domain::warroom::zone::proposal::ProposalSource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;

/// A task that must be done first: its position in the list being created, from 0, or its id.
#[derive(Debug, Clone)]
pub(crate) struct DependsOn(pub(crate) Dependency);

impl<'de> Deserialize<'de> for DependsOn {
    // By hand, because the derived error of an untagged union does not say what to correct.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DependsOnVisitor)
    }
}

struct DependsOnVisitor;

impl Visitor<'_> for DependsOnVisitor {
    type Value = DependsOn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the position of a task in this list, from 0, or an id like \"TASK-001\"")
    }

    fn visit_u64<E: Error>(self, place: u64) -> Result<DependsOn, E> {
        u32::try_from(place).map(|place| DependsOn(Dependency::Index(place))).map_err(|_| E::custom("the position is out of range"))
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

/// The argument that names a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ProjectArgument {
    #[default]
    Missing,
    Id(ProjectId),
    /// A text that is no id. Clients of dead-drop name their project freely; an agent has only its own.
    Words(String),
}

impl<'de> Deserialize<'de> for ProjectArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Option<String> = given(deserializer)?;
        Ok(text.map_or(Self::Missing, |text| text.parse().map_or(Self::Words(text), Self::Id)))
    }
}

impl JsonSchema for ProjectArgument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ProjectArgument".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "Needed if there are several projects."})
    }
}

/// Reads an optional word or id. Empty text counts as missing.
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

/// Reads words, names or ids from a list, or from text separated by commas.
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
        f.write_str("a list of strings, or one string with commas")
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

/// Reads an optional integer, also from text. Empty text counts as missing.
pub(crate) fn number<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64>,
{
    let Some(number) = deserializer.deserialize_any(NumberVisitor)? else { return Ok(None) };
    T::try_from(number).map(Some).map_err(|_| D::Error::custom(format!("{number} is out of range")))
}

/// Reads an optional number, also from text.
pub(crate) fn decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<Value>::deserialize(deserializer)? {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => text.trim().parse().map(Some).map_err(|_| D::Error::custom(format!("{text:?} is not a number"))),
        Some(Value::Number(number)) => Ok(number.as_f64()),
        Some(_) => Err(D::Error::custom("it is not a number")),
    }
}

/// Reads an optional integer where zero counts as missing, too.
pub(crate) fn number_from_one<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64> + Default + PartialEq,
{
    Ok(number(deserializer)?.filter(|number| *number != T::default()))
}

/// Reads the number of a message or handshake.
pub(crate) fn serialize_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    number_from_one(deserializer)?.ok_or_else(|| D::Error::custom("it is missing"))
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
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
            // Results show messages and handshakes as #12.
            digits => digits.trim_start_matches('#').parse().map(Some).map_err(|_| E::custom(format!("{text:?} is not an integer"))),
        }
    }
}

/// Reads an optional boolean, also from text.
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

/// The schema of a word among `values`.
pub(crate) fn one_of<T: fmt::Display>(values: &[T]) -> Schema {
    let words: Vec<String> = values.iter().map(T::to_string).collect();
    json_schema!({"type": "string", "enum": words})
}

pub(crate) fn phase(_: &mut SchemaGenerator) -> Schema {
    one_of(AgentKind::ALL)
}

/// The phases of new tasks. The runner creates the others by itself.
pub(crate) fn created_phase(_: &mut SchemaGenerator) -> Schema {
    one_of(&[AgentKind::Coder, AgentKind::Planner])
}

pub(crate) fn status(_: &mut SchemaGenerator) -> Schema {
    one_of(Status::ALL)
}

/// The stages that an agent can request.
pub(crate) fn stage(_: &mut SchemaGenerator) -> Schema {
    one_of(&[
        Stage::Pending,
        Stage::Assigned,
        Stage::Ready,
        Stage::InProgress,
        Stage::Review,
        Stage::Completed,
        Stage::Failed,
        Stage::Verified,
        Stage::Stale,
        Stage::Obsolete,
    ])
}

/// The roles in which managed agents and the human write.
pub(crate) fn author_role(_: &mut SchemaGenerator) -> Schema {
    one_of(&[AuthorRole::Planner, AuthorRole::Coder, AuthorRole::Reviewer, AuthorRole::Orchestrator, AuthorRole::Human])
}

/// The roles that an agent can register with. Only the human grants `lead`; the older names are accepted and not offered.
pub(crate) fn roles(_: &mut SchemaGenerator) -> Schema {
    let is_offered = |role: &&Role| !matches!(role, Role::Lead | Role::Maintainer | Role::Demoer | Role::Deliverer | Role::Pusher);
    let names: Vec<&str> = Role::ALL.iter().filter(is_offered).map(|role| role.as_str()).collect();
    json_schema!({"type": "string", "description": format!("Separated by commas: {}.", names.join(", "))})
}

/// Reads a JSON object, also from text. A missing one is empty.
pub(crate) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Metadata, D::Error> {
    let given = match Option::<Value>::deserialize(deserializer)? {
        Some(Value::String(text)) if text.trim().is_empty() => None,
        Some(Value::String(text)) => Some(serde_json::from_str(&text).map_err(|_| D::Error::custom("it is not a JSON object"))?),
        given => given,
    };
    match given {
        None | Some(Value::Null) => Ok(Metadata::new()),
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(D::Error::custom("it is not a JSON object")),
    }
}

/// The schema of a value of any type. Some clients do not know schemas that are a boolean.
pub(crate) fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"description": "Any JSON."})
}

pub(crate) fn visibility(_: &mut SchemaGenerator) -> Schema {
    one_of(Visibility::ALL)
}

pub(crate) fn memory_scope(_: &mut SchemaGenerator) -> Schema {
    one_of(MemoryScope::ALL)
}

pub(crate) fn contract_type(_: &mut SchemaGenerator) -> Schema {
    one_of(ContractType::ALL)
}

pub(crate) fn agent_class(_: &mut SchemaGenerator) -> Schema {
    one_of(AgentClass::ALL)
}

pub(crate) fn lead_role(_: &mut SchemaGenerator) -> Schema {
    one_of(LeadRole::ALL)
}

pub(crate) fn transport(_: &mut SchemaGenerator) -> Schema {
    one_of(Transport::ALL)
}

pub(crate) fn battle_plan_scope(_: &mut SchemaGenerator) -> Schema {
    one_of(BattlePlanScope::ALL)
}

pub(crate) fn battle_plan_status(_: &mut SchemaGenerator) -> Schema {
    one_of(BattlePlanStatus::ALL)
}

pub(crate) fn trigger_word(_: &mut SchemaGenerator) -> Schema {
    one_of(TriggerWord::ALL)
}

pub(crate) fn raid_priority(_: &mut SchemaGenerator) -> Schema {
    one_of(Priority::ALL)
}

pub(crate) fn proposal_source(_: &mut SchemaGenerator) -> Schema {
    one_of(ProposalSource::ALL)
}

pub(crate) fn minion_status(_: &mut SchemaGenerator) -> Schema {
    one_of(MinionStatus::ALL)
}

#[cfg(test)]
mod tests;
