//! The HTTP client of webhooks, the only one that leaves this machine: it trusts the certificates that the system trusts, and follows no redirect,
//! because a signed body is for the configured receiver only.
//!
//! Must not know what it sends. A client of its own keeps TLS out of the bridges of agents, which share a program with it.

use std::io;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::uri::InvalidUri;
use axum::http::{HeaderValue, Request, StatusCode, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

/// The time in which a receiver must answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

const USER_AGENT: &str = concat!("vibe-relay/", env!("CARGO_PKG_VERSION"));

#[derive(Clone)]
pub(super) struct Client(legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

/// The reason why a notification was not accepted. No address is in it.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("the notification is not valid JSON")]
    Body(#[from] serde_json::Error),
    #[error("the address is not valid")]
    Address(#[from] InvalidUri),
    #[error("the headers are not valid")]
    Headers(#[from] axum::http::Error),
    #[error("the receiver cannot be reached")]
    Unreachable(#[from] legacy::Error),
    #[error("the receiver did not answer within {} seconds", ANSWER_TIMEOUT.as_secs())]
    NoAnswer,
    #[error("the receiver answered {0}")]
    Refused(StatusCode),
}

impl Client {
    /// Reads the certificates of the system.
    ///
    /// # Errors
    /// There are none.
    pub(super) fn new() -> io::Result<Self> {
        let connector = HttpsConnectorBuilder::new().with_native_roots()?.https_or_http().enable_http1().build();
        Ok(Self(legacy::Client::builder(TokioExecutor::new()).build(connector)))
    }

    /// Posts JSON with further headers. Only an answer that reports success counts.
    pub(super) async fn post(&self, url: &str, headers: [(&str, &str); 3], body: String) -> Result<(), SendError> {
        let mut request = Request::post(url.parse::<axum::http::Uri>()?)
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let answer = self.0.request(request.body(Full::from(body))?);
        let status = timeout(ANSWER_TIMEOUT, answer).await.map_err(|_| SendError::NoAnswer)??.status();
        if status.is_success() { Ok(()) } else { Err(SendError::Refused(status)) }
    }
}
