//! Sends a request to the server, and retries while the server is unavailable.
//!
//! It must not know what the request does.

use std::time::Duration;

use domain::wire::Problem;
use http::StatusCode;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use super::Bridge;
use super::post::{PostError, Target};
use crate::connect::ConnectError;
use crate::server_file::ServerFileError;

/// The delays between two attempts: the first, and the limit up to which they double.
pub(super) const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Why the board did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum BoardUnavailable {
    #[error("the board is not running: {last} (waited {seconds} s)")]
    NotRunning { seconds: u64, last: String },
    #[error("{detail}")]
    Refused { code: String, detail: String, hint: String },
    #[error(transparent)]
    File(#[from] ServerFileError),
}

impl BoardUnavailable {
    pub(super) fn code(&self) -> &str {
        match self {
            Self::NotRunning { .. } | Self::File(_) => "not-running",
            Self::Refused { code, .. } => code,
        }
    }

    pub(super) fn hint(&self) -> String {
        match self {
            Self::NotRunning { .. } | Self::File(_) => {
                "End your turn: your commits are safe. The human starts the board with `vibe-relay serve`. It then resumes the agents that it \
                 manages; other agents call again."
                    .to_owned()
            }
            Self::Refused { hint, .. } => hint.clone(),
        }
    }
}

impl Bridge {
    /// Sends a request until the server answers, for at most `wait`. The call id makes an agent's request take effect once. The human's may
    /// be carried out again if only its answer was lost, because their answers are not stored.
    pub(super) async fn call_server(&self, method: &str, name: Option<&str>, parameters: Value, wait: Duration) -> Result<Value, BoardUnavailable> {
        let body: Bytes = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).to_string().into();
        let deadline = Instant::now() + wait;
        let mut delay = RETRY_DELAYS.0;
        loop {
            let last = match timeout_at(deadline, self.attempt(method, name, &body)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Attempt::GiveUp(unavailable))) => return Err(unavailable),
                Ok(Err(Attempt::Retry(reason))) => reason,
                Err(_) => "it did not answer".to_owned(),
            };
            if Instant::now() + delay >= deadline {
                return Err(BoardUnavailable::NotRunning { seconds: wait.as_secs(), last });
            }
            sleep(delay).await;
            delay = (delay * 2).min(RETRY_DELAYS.1);
        }
    }

    async fn attempt(&self, method: &str, name: Option<&str>, body: &Bytes) -> Result<Value, Attempt> {
        let token = self.token.borrow().clone();
        let target = Target { db_path: &self.db_path, token: &token, method, name };
        match self.connection.post(&target, body).await {
            Ok(answer) => Ok(answer),
            Err(PostError::Status { status: StatusCode::SERVICE_UNAVAILABLE, .. }) => Err(Attempt::Retry("it is restarting".to_owned())),
            Err(PostError::Status { status: StatusCode::UNAUTHORIZED, .. }) if self.revert_to_first_token(&token) => {
                Err(Attempt::Retry("its token was revoked".to_owned()))
            }
            Err(PostError::Status { status, problem }) => Err(Attempt::GiveUp(refused(status, problem))),
            Err(PostError::Connect(ConnectError::File(error))) => Err(Attempt::GiveUp(error.into())),
            // Connects again each time, because a restarted server may listen elsewhere.
            Err(error @ (PostError::Connect(_) | PostError::Connection { .. } | PostError::UnexpectedResponse)) => {
                Err(Attempt::Retry(error.to_string()))
            }
        }
    }
}

/// Why an attempt failed.
enum Attempt {
    /// Another attempt may succeed.
    Retry(String),
    GiveUp(BoardUnavailable),
}

fn refused(status: StatusCode, problem: Option<Box<Problem>>) -> BoardUnavailable {
    match problem {
        Some(problem) => BoardUnavailable::Refused { code: problem.code, detail: problem.detail, hint: problem.hint },
        None => BoardUnavailable::Refused {
            code: "refused".to_owned(),
            detail: format!("the board refused the request ({status})"),
            hint: "End your turn and report it: the bridge and the board may have different versions.".to_owned(),
        },
    }
}
