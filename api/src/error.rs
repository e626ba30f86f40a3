//! The HTTP status and body of every failure; no other file decides them.
//!
//! Refusals bring their category, code and sentences from `domain`; this file adds those of HTTP itself.

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::board::transition::refusal::MoveRefusal;
use domain::id::{InvalidId, TaskId};
use domain::refusal::{Category, Refusal, RepositoryRefusal};
use domain::runs::land::LandRefusal;
use domain::team::agent::NameError;
use domain::wire::Problem;
use repo::RepoError;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// A reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Store(#[from] db::Error),
    #[error("this server does not accept the host \"{0}\"")]
    WrongHost(String),
    #[error("pages of \"{0}\" are not allowed to use this server")]
    WrongOrigin(String),
    #[error("the request does not come from the board's own page")]
    CrossSite,
    #[error("the address {0}")]
    Address(&'static str),
    #[error("{0}")]
    Query(String),
    #[error(transparent)]
    Id(#[from] InvalidId),
    #[error("content type {0} is not supported; send JSON")]
    ContentType(String),
    #[error("the body is not valid JSON: {0}")]
    Syntax(String),
    #[error("{field}: {problem}")]
    Field { field: String, problem: String },
    #[error("the request is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("{0} does not exist")]
    NoSuchPath(String),
    #[error("{path} does not support {method}")]
    Method { method: Method, path: String },
    #[error("{0} has no changes")]
    NoDiff(TaskId),
    #[error("this address accepts only WebSockets")]
    NoUpgrade,
    #[error("the link could not be drawn as a QR code")]
    QrCode(#[from] qrcode::types::QrError),
    #[error("the token file could not be written, so the token was not replaced")]
    TokenFile(#[source] std::io::Error),
    /// A task on another thread panicked or was cancelled.
    #[error("the request did not finish")]
    Unfinished(#[from] tokio::task::JoinError),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Store(refusal.into())
    }
}

domain::from_refusals!(Error);

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        Refusal::from(error).into()
    }
}

impl From<RepoError> for Error {
    fn from(error: RepoError) -> Self {
        RepositoryRefusal { code: error.code(), detail: error.to_string(), hint: error.hint() }.into()
    }
}

impl Error {
    /// The status and the code.
    fn answer(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Store(db::Error::Refused(refusal)) => (status_of(refusal.category()), refusal.code()),
            Self::Store(db::Error::Closed) => (StatusCode::SERVICE_UNAVAILABLE, "closed"),
            Self::Store(db::Error::DiskFull) => (StatusCode::INSUFFICIENT_STORAGE, "disk-full"),
            Self::Store(
                db::Error::Locked { .. }
                | db::Error::NewerSchema { .. }
                | db::Error::OldDatabase { .. }
                | db::Error::NotOurDatabase { .. }
                | db::Error::Folder { .. }
                | db::Error::OldSqlite { .. }
                | db::Error::Damaged { .. }
                | db::Error::NoBackup { .. }
                | db::Error::File { .. }
                | db::Error::Storage(_)
                | db::Error::Unreadable(_)
                | db::Error::NoEvent,
            ) => (StatusCode::INTERNAL_SERVER_ERROR, "storage"),
            Self::WrongHost(_) => (StatusCode::FORBIDDEN, "foreign-host"),
            Self::WrongOrigin(_) => (StatusCode::FORBIDDEN, "foreign-origin"),
            Self::CrossSite => (StatusCode::FORBIDDEN, "cross-site"),
            Self::Address(_) => (StatusCode::BAD_REQUEST, "bad-address"),
            Self::Query(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Self::Id(_) => (StatusCode::NOT_FOUND, "not-found"),
            Self::ContentType(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json"),
            Self::Syntax(_) => (StatusCode::BAD_REQUEST, "bad-json"),
            Self::Field { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Self::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too-large"),
            Self::NoSuchPath(_) => (StatusCode::NOT_FOUND, "no-such-path"),
            Self::Method { .. } => (StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed"),
            Self::NoDiff(_) => (StatusCode::NOT_FOUND, "no-diff"),
            Self::NoUpgrade => (StatusCode::UPGRADE_REQUIRED, "no-upgrade"),
            Self::QrCode(_) => (StatusCode::INTERNAL_SERVER_ERROR, "qr-code"),
            Self::TokenFile(_) => (StatusCode::INTERNAL_SERVER_ERROR, "token-file"),
            Self::Unfinished(_) => (StatusCode::INTERNAL_SERVER_ERROR, "unfinished"),
        }
    }

    /// The code for programs.
    pub(crate) fn code(&self) -> &'static str {
        self.answer().1
    }

    /// The next legal step.
    fn hint(&self) -> String {
        match self {
            Self::Store(db::Error::Refused(refusal)) => return refusal.hint(),
            Self::Store(db::Error::Closed) => "Repeat the request when the server is running again.",
            Self::Store(db::Error::DiskFull) => "Free space on the disk of the database, then repeat the request. The board can still be read.",
            Self::Store(_) | Self::QrCode(_) | Self::TokenFile(_) | Self::Unfinished(_) => {
                "See the server's output for the cause, then repeat the request."
            }
            Self::WrongHost(_) => "Use the address that `vibe-relay serve` printed, or add the name to `allowed_hosts` in the configuration file.",
            Self::WrongOrigin(_) | Self::CrossSite => "Use the board's own page, or send `Authorization: Bearer` from a program.",
            Self::Address(_) => "See /api/openapi.json for the address.",
            Self::Query(_) => "See /api/openapi.json for the parameters and their types.",
            Self::Id(bad) => return format!("Look up the id on the board; ids look like {}.", bad.example),
            Self::ContentType(_) => "Send it with `Content-Type: application/json`.",
            Self::Syntax(_) => "Send one JSON object in UTF-8.",
            Self::Field { .. } => "See /api/openapi.json for the fields and their types.",
            Self::TooLarge { .. } => "Shorten it, or put the long part into a file of the repository and name that file.",
            Self::NoSuchPath(_) => "See /api/openapi.json for all addresses.",
            Self::Method { .. } => "Use one of the methods in the `Allow` header.",
            Self::NoDiff(_) => "Changes appear with the first commit on its branch, and disappear when it is closed without a merge.",
            Self::NoUpgrade => "Connect with a WebSocket client, or read /api/events.",
        }
        .to_owned()
    }

    /// The body. Causes that only the operator may see go to the log instead.
    fn problem(&self) -> Problem {
        let (status, code) = self.answer();
        let detail = match self {
            Self::Store(db::Error::Refused(refusal)) => refusal.to_string(),
            Self::Store(db::Error::Closed) => "the server is shutting down".to_owned(),
            Self::Store(error @ db::Error::DiskFull) => format!("{error}, so the request was not carried out"),
            Self::Store(_) => "the store failed, so the request was not carried out".to_owned(),
            other => other.to_string(),
        };
        let mut problem = Problem::new(status.as_u16(), code, detail, self.hint());
        if let Self::Store(db::Error::Refused(refusal)) = self {
            problem.missing = refusal.missing().map(str::to_owned);
            match refusal {
                Refusal::Move(MoveRefusal::Illegal { from, to, .. }) => {
                    (problem.from, problem.to, problem.allowed) = (Some(*from), Some(*to), refusal.allowed());
                }
                Refusal::Land(LandRefusal::CommitsReturn { returning, .. }) => problem.returning = Some(returning.clone()),
                _ => {}
            }
        }
        problem
    }
}

fn status_of(category: Category) -> StatusCode {
    match category {
        Category::NotFound => StatusCode::NOT_FOUND,
        Category::Unauthorized => StatusCode::UNAUTHORIZED,
        Category::Forbidden => StatusCode::FORBIDDEN,
        Category::Conflict => StatusCode::CONFLICT,
        Category::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        Category::TooMany => StatusCode::TOO_MANY_REQUESTS,
    }
}

/// The code of a failure, as an extension of its response, for the audit log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailureCode(pub(crate) &'static str);

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let problem = self.problem();
        if problem.status >= 500 {
            let cause = std::error::Error::source(&self).map(ToString::to_string);
            tracing::error!(error = %self, cause, "a request failed");
        }
        let (status, code) = self.answer();
        let mut response = (status, Json(problem)).into_response();
        response.extensions_mut().insert(FailureCode(code));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self {
            Self::Store(db::Error::Refused(refusal)) if refusal.category() == Category::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Store(db::Error::Refused(refusal)) => {
                headers.extend(refusal.retry_after().map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds))));
            }
            Self::NoUpgrade => {
                headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests;
