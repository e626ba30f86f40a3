//! Acts: the request that causes use cases, by its credential and its tool or route. The audit log and the queue of the writer read it.
//!
//! An adapter sets it once for a request, so that no use case has to pass it on. Must not know any tool or route.

use std::future::Future;

use domain::actor::Actor;
use domain::id::{ProjectId, RunId};
use sha2::{Digest, Sha256};

/// How many hexadecimal digits of a secret's hash name it.
const NAME_DIGITS: usize = 12;

tokio::task_local! {
    static ACT: Act;
}

/// A request that is being carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The credential that identified the caller; none if nothing did.
    pub(crate) credential: Option<String>,
    /// The tool or the route.
    pub(crate) action: String,
}

impl Act {
    /// An act of the holder of a token.
    pub fn by_token(token: &str, action: impl Into<String>) -> Self {
        Self { credential: Some(format!("token:{}", name(&hash(token)))), action: action.into() }
    }

    /// An act from a browser with this secret.
    pub fn by_browser(secret: &str, action: impl Into<String>) -> Self {
        Self { credential: Some(format!("browser:{}", name(&hash(secret)))), action: action.into() }
    }

    /// An act that no valid credential came with.
    pub fn by_nobody(action: impl Into<String>) -> Self {
        Self { credential: None, action: action.into() }
    }

    /// Runs `work` as this act. Everything that it writes is recorded under it.
    pub async fn run<F: Future>(self, work: F) -> F::Output {
        ACT.scope(self, work).await
    }

    /// The act that the current task carries out; none for the server's own work.
    pub(crate) fn current() -> Option<Self> {
        ACT.try_with(Clone::clone).ok()
    }
}

/// The parts of a caller that a row names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Named {
    pub(crate) actor: Option<String>,
    pub(crate) run: Option<RunId>,
    pub(crate) project: Option<ProjectId>,
}

impl Named {
    pub(crate) fn actor(&self) -> Option<Actor> {
        self.actor.clone().map(Actor::from)
    }
}

/// Returns the hash under which a secret is stored.
pub(crate) fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// Returns the public name of a token.
pub fn token_name(token: &str) -> String {
    name(&hash(token)).to_owned()
}

/// Returns the public name of a secret, from its hash.
pub(crate) fn name(hash: &str) -> &str {
    hash.get(..NAME_DIGITS).unwrap_or(hash)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
