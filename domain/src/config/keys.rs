//! The keys in the text of a configuration: each is known, and each is given once. Must not know what a key means.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::error::{ConfigError, shown};

/// The key by which editors find the description of a file. It is not a setting.
const SCHEMA_KEY: &str = "$schema";

/// Reads an object of JSON, in which no key is repeated: a person would read the first, and the last would count.
pub(super) fn read(text: &str) -> Result<Value, ConfigError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let Unique(mut read) = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (key, problem) = (error.path().to_string(), error.inner().to_string());
        if error.inner().is_data() { ConfigError::Value { key, problem } } else { ConfigError::Syntax(problem) }
    })?;
    json.end().map_err(|error| ConfigError::Syntax(error.to_string()))?;
    match &mut read {
        Value::Object(object) => drop(object.remove(SCHEMA_KEY)),
        other => return Err(ConfigError::NotObject { found: shown(other, false) }),
    }
    Ok(read)
}

/// Refuses keys of `given` that `known` lacks.
pub(super) fn reject_unknown(given: &Value, known: &Value, path: &str) -> Result<(), ConfigError> {
    let (Value::Object(given), Value::Object(known)) = (given, known) else { return Ok(()) };
    for (key, value) in given {
        match known.get(key) {
            // Environment variables can have any name.
            Some(_) if key == "env" => {}
            Some(below) => reject_unknown(value, below, &format!("{path}{key}."))?,
            None => {
                let nearest = nearest(key, known.keys().map(String::as_str)).map(|nearest| format!("{path}{nearest}"));
                return Err(ConfigError::UnknownKey { key: format!("{path}{key}"), nearest });
            }
        }
    }
    Ok(())
}

/// The known key that is most similar to `key`, if one is similar at all.
pub(super) fn nearest<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let similarity = |known: &str| strsim::jaro_winkler(key, known);
    known.max_by(|one, other| similarity(one).total_cmp(&similarity(other))).filter(|nearest| similarity(nearest) > 0.7)
}

/// A value whose objects have each key once.
struct Unique(Value);

/// The value of a repeated key.
struct Repeated;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

impl<'de> Deserialize<'de> for Repeated {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("keep one of the two: the key is repeated"))
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, given: bool) -> Result<Value, E> {
        Ok(given.into())
    }

    fn visit_i64<E>(self, given: i64) -> Result<Value, E> {
        Ok(given.into())
    }

    fn visit_u64<E>(self, given: u64) -> Result<Value, E> {
        Ok(given.into())
    }

    fn visit_f64<E>(self, given: f64) -> Result<Value, E> {
        Ok(given.into())
    }

    fn visit_str<E>(self, given: &str) -> Result<Value, E> {
        Ok(given.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(value)) = given.next_element()? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut given: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = given.next_key::<String>()? {
            if object.contains_key(&key) {
                given.next_value::<Repeated>()?;
            }
            let Unique(value) = given.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}
