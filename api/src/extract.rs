//! Typed parts of a request, with a problem that names the field that does not fit.
//!
//! Knows no route. Use cases decide whether a value makes sense.

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

/// The id in the path.
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

/// The id in the path of an object that has a number for an id, from 1 and in canonical form.
pub(crate) struct NumericId(pub(crate) i64);

impl<S: Send + Sync> FromRequestParts<S> for NumericId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Id(id) = Id::from_request_parts(parts, state).await?;
        Ok(id)
    }
}

impl FromStr for NumericId {
    type Err = InvalidId;

    fn from_str(given: &str) -> Result<Self, InvalidId> {
        let number = given.parse().ok().filter(|number: &i64| *number > 0 && number.to_string() == given);
        number.map(Self).ok_or_else(|| InvalidId { given: given.chars().take(60).collect(), kind: "a numeric", example: "1" })
    }
}

/// The parameters of the query string.
pub(crate) struct QueryParameters<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for QueryParameters<T>
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

/// A JSON body whose fields are all optional, or no body.
pub(crate) struct OptionalBody<T>(pub(crate) T);

impl<S, T> FromRequest<S> for OptionalBody<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Default,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let bytes = bytes(request, state).await?;
        if bytes.is_empty() { Ok(Self(T::default())) } else { Ok(Self(parse(&bytes)?)) }
    }
}

/// No body, or an empty object.
pub(crate) struct NoBody;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EmptyObject {}

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let bytes = bytes(request, state).await?;
        if !bytes.is_empty() {
            let EmptyObject {} = parse(&bytes)?;
        }
        Ok(Self)
    }
}

async fn bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Error> {
    Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Error::TooLarge { limit: BODY_LIMIT },
        _ => Error::Syntax("it ended early".to_owned()),
    })
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    // Serde would accept a list of the fields' values as the object.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Error::Field { field: "the body".to_owned(), problem: "it is a list; send an object".to_owned() });
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
    use domain::board::task::TaskPatch;
    use domain::wire::{NewProject, ProjectDeletion};

    use super::*;

    fn refusal<T: DeserializeOwned>(body: &str) -> String {
        parse::<T>(body.as_bytes()).err().unwrap().to_string()
    }

    #[test]
    fn error_names_the_invalid_field() {
        insta::assert_snapshot!(refusal::<NewProject>(r#"{"title": 5}"#), @"title: invalid type: integer `5`, expected a string at line 1 column 11");
        insta::assert_snapshot!(refusal::<NewProject>(r#"{"title": "a", "colour": "red"}"#), @"colour: unknown field `colour`, expected one of `title`, `description`, `issue`, `repo_path`, `base_branch`, `make_base`, `start`, `plan`, `plan_approval`, `review`, `budget_micro_usd`, `profile` at line 1 column 23");
        insta::assert_snapshot!(refusal::<ProjectDeletion>("{}"), @"the body: missing field `title` at line 1 column 2");
        insta::assert_snapshot!(refusal::<NewProject>(r#"["a"]"#), @"the body: it is a list; send an object");
        insta::assert_snapshot!(refusal::<TaskPatch>(r#"{"status": "doing"}"#), @"status: unknown variant `doing`, expected one of `backlog`, `in_progress`, `in_review`, `done`, `cancelled` at line 1 column 18");
        insta::assert_snapshot!(refusal::<TaskPatch>(r#"{"depends_on": ["TASK-001", "x"]}"#), @r#"depends_on[1]: "x" is not a task id: expected something like TASK-001 at line 1 column 32"#);
        insta::assert_snapshot!(refusal::<EmptyObject>(r#"{"force": true}"#), @"force: unknown field `force`, there are no fields at line 1 column 8");
    }

    #[test]
    fn malformed_json_is_a_syntax_error() {
        for body in ["", "{", "title=a", "{} {}", "{\"title\": \"a\0\"}", "\u{feff}{}"] {
            assert!(matches!(parse::<TaskPatch>(body.as_bytes()), Err(Error::Syntax(_))), "{body:?}");
        }
        assert!(matches!(parse::<TaskPatch>(b"{\"title\": \"\xff\"}"), Err(Error::Syntax(_))));
    }
}
