//! Asking the server, again and again while it is away.

use std::time::Duration;

use domain::wire::Problem;
use http::StatusCode;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use super::Bridge;
use super::post::{PostError, Target};
use crate::server_file::{self, ServerFileError};

/// The pause between two attempts: doubled from the first to the second.
pub(super) const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Why the board gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Away {
    #[error("the board is not running: {last} (waited {seconds} s)")]
    NotRunning { seconds: u64, last: String },
    #[error("{detail}")]
    Refused { code: String, detail: String, hint: String },
    #[error(transparent)]
    File(#[from] ServerFileError),
}

impl Away {
    pub(super) fn code(&self) -> &str {
        match self {
            Self::NotRunning { .. } | Self::File(_) => "not-running",
            Self::Refused { code, .. } => code,
        }
    }

    pub(super) fn hint(&self) -> String {
        match self {
            Self::NotRunning { .. } | Self::File(_) => {
                "End your turn: what you committed is safe. The person starts the board with `vibe-relay serve`; it resumes the agents that it \
                 runs, and others call again then."
                    .to_owned()
            }
            Self::Refused { hint, .. } => hint.clone(),
        }
    }
}

impl Bridge {
    /// One request to the server, sent again while the server is away. By its call id an agent's is carried out once; the person's, of whose
    /// calls nothing is kept, is carried out again where only its answer was lost.
    pub(super) async fn ask(&self, method: &str, name: Option<&str>, parameters: Value, wait: Duration) -> Result<Value, Away> {
        let body: Bytes = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).to_string().into();
        let deadline = Instant::now() + wait;
        let mut pause = PAUSE.0;
        loop {
            let last = match timeout_at(deadline, self.attempt(method, name, &body)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Attempt::Final(away))) => return Err(away),
                Ok(Err(Attempt::Again(why))) => why,
                Err(_) => "it did not answer".to_owned(),
            };
            if Instant::now() + pause >= deadline {
                return Err(Away::NotRunning { seconds: wait.as_secs(), last });
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    async fn attempt(&self, method: &str, name: Option<&str>, body: &Bytes) -> Result<Value, Attempt> {
        // Read anew each time: a restarted server may listen elsewhere.
        let server = server_file::read(&self.db_path).map_err(|error| Attempt::Final(error.into()))?;
        let Some(server) = server else {
            return Err(Attempt::Again(format!("there is no {}", server_file::path(&self.db_path).display())));
        };
        let token = self.token.borrow().clone();
        let target = Target { url: &server.url, token: &token, method, name };
        match self.kept.post(&target, body).await {
            Ok(answer) => Ok(answer),
            Err(PostError::Status { status: StatusCode::SERVICE_UNAVAILABLE, .. }) => Err(Attempt::Again("it is restarting".to_owned())),
            Err(PostError::Status { status: StatusCode::UNAUTHORIZED, .. }) if self.fall_back(&token) => {
                Err(Attempt::Again("its own token is worth nothing any more".to_owned()))
            }
            Err(PostError::Status { status, problem }) => Err(Attempt::Final(refused(status, problem))),
            Err(error @ (PostError::Connection { .. } | PostError::Foreign { .. })) => Err(Attempt::Again(error.to_string())),
        }
    }
}

/// Why an attempt gave no answer, and whether another may.
enum Attempt {
    Again(String),
    Final(Away),
}

fn refused(status: StatusCode, problem: Option<Problem>) -> Away {
    match problem {
        Some(problem) => Away::Refused { code: problem.code, detail: problem.detail, hint: problem.hint },
        None => Away::Refused {
            code: "refused".to_owned(),
            detail: format!("the board refused the request ({status})"),
            hint: "End your turn and say so: bridge and board may be of different versions.".to_owned(),
        },
    }
}
