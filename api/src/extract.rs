//! What a handler takes from a request, typed, with a problem that names the field when it does not fit.
//!
//! Knows no route. Whether a value makes sense is the use-case's business.

use std::str::FromStr;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use domain::id::InvalidId;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::guard::BODY_LIMIT;

/// The id in a path that has one.
pub(crate) struct Id<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for Id<T>
where
    S: Send + Sync,
    T: FromStr<Err = InvalidId>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(id) = Path::<String>::from_request_parts(parts, state).await.map_err(|_| Error::NoSuchPath(parts.uri.path().to_owned()))?;
        Ok(Self(id.parse()?))
    }
}

/// The number in a path of something that is only counted: written without anything around it, from 1.
pub(crate) struct Number(pub(crate) i64);

impl<S: Send + Sync> FromRequestParts<S> for Number {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Id(Counted(number)) = Id::from_request_parts(parts, state).await?;
        Ok(Self(number))
    }
}

struct Counted(i64);

impl FromStr for Counted {
    type Err = InvalidId;

    fn from_str(given: &str) -> Result<Self, InvalidId> {
        let number = given.parse().ok().filter(|number: &i64| *number > 0 && number.to_string() == given);
        number.map(Self).ok_or_else(|| InvalidId { given: given.chars().take(60).collect(), kind: "a numbered", example: "1" })
    }
}

/// The parameters behind the question mark.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for Parameters<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(rejection) => Err(Error::Query(rejection.body_text())),
        }
    }
}

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S, T> FromRequest<S> for Body<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        Ok(Self(parse(&bytes(request, state).await?)?))
    }
}

/// A body that says nothing: it is missing, or an empty object.
pub(crate) struct NoBody;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let bytes = bytes(request, state).await?;
        if !bytes.is_empty() {
            let Nothing {} = parse(&bytes)?;
        }
        Ok(Self)
    }
}

async fn bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Error> {
    Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::TooLarge { limit: BODY_LIMIT },
        _ => Error::Syntax("it was cut off".to_owned()),
    })
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    // A list of the fields' values would be taken for the object otherwise.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Error::Field { field: "the body".to_owned(), problem: "it is a list, and an object is expected".to_owned() });
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let field = error.path().to_string();
        match error.into_inner() {
            inner if !inner.is_data() => Error::Syntax(inner.to_string()),
            inner if field == "." => Error::Field { field: "the body".to_owned(), problem: inner.to_string() },
            inner => Error::Field { field, problem: inner.to_string() },
        }
    })?;
    json.end().map_err(|error| Error::Syntax(error.to_string()))?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use domain::wire::{NewProject, TaskPatch};

    use super::*;

    fn refusal<T: DeserializeOwned>(body: &str) -> String {
        parse::<T>(body.as_bytes()).err().unwrap().to_string()
    }

    #[test]
    fn the_field_that_does_not_fit_is_named() {
        insta::assert_snapshot!(refusal::<NewProject>(r#"{"title": 5}"#), @"title: invalid type: integer `5`, expected a string at line 1 column 11");
        insta::assert_snapshot!(refusal::<NewProject>(r#"{"title": "a", "colour": "red"}"#), @"colour: unknown field `colour`, expected one of `title`, `description`, `repo_path`, `base_branch`, `plan`, `plan_approval` at line 1 column 23");
        insta::assert_snapshot!(refusal::<NewProject>("{}"), @"the body: missing field `title` at line 1 column 2");
        insta::assert_snapshot!(refusal::<NewProject>(r#"["a"]"#), @"the body: it is a list, and an object is expected");
        insta::assert_snapshot!(refusal::<TaskPatch>(r#"{"status": "doing"}"#), @"status: unknown variant `doing`, expected one of `backlog`, `in_progress`, `in_review`, `done`, `cancelled` at line 1 column 18");
        insta::assert_snapshot!(refusal::<TaskPatch>(r#"{"depends_on": ["TASK-001", "x"]}"#), @r#"depends_on[1]: "x" is not a task id: expected something like TASK-001 at line 1 column 32"#);
        insta::assert_snapshot!(refusal::<Nothing>(r#"{"force": true}"#), @"force: unknown field `force`, there are no fields at line 1 column 8");
    }

    #[test]
    fn what_is_no_json_is_said_to_be_none() {
        for body in ["", "{", "title=a", "{} {}", "{\"title\": \"a\0\"}", "\u{feff}{}"] {
            assert!(matches!(parse::<TaskPatch>(body.as_bytes()), Err(Error::Syntax(_))), "{body:?}");
        }
        assert!(matches!(parse::<TaskPatch>(b"{\"title\": \"\xff\"}"), Err(Error::Syntax(_))));
    }
}
