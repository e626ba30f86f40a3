//! Browser sessions: the browsers that a person signed in. Their secrets are not part of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::time::Timestamp;

/// The time that a browser stays signed in.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The header of a request with a session key.
pub const SESSION_KEY_HEADER: &str = "vibe-relay-session-key";
/// The name of a session key in the fragment of the address that follows a sign-in. Browsers send fragments to no server.
pub const SESSION_KEY_FRAGMENT: &str = "session-key=";
/// The subprotocol of the live WebSocket in a browser.
pub const SOCKET_PROTOCOL: &str = "vibe-relay";
/// The start of a second subprotocol, which carries the session key: a page cannot add a header to a WebSocket.
pub const SESSION_KEY_PROTOCOL: &str = "vibe-relay.session-key.";

/// The secret of a browser session. A browser keeps its two random parts in different places, and one of them opens nothing.
#[derive(Clone)]
pub struct SessionSecret {
    /// The part in the cookie. Browsers send it to every port of the host.
    pub cookie: String,
    /// The part in the storage of the board's page, which browsers keep apart for each port.
    pub key: String,
}

impl SessionSecret {
    /// Both parts as one text, of which the store has the hash.
    pub fn joined(&self) -> String {
        format!("{}.{}", self.cookie, self.key)
    }
}

/// A browser that is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserSession {
    /// A number from 1, which is never given out again.
    pub id: i64,
    /// The person who signed in.
    pub person_id: i64,
    pub person: String,
    /// The name of a paired device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The `User-Agent` header of the browser.
    pub user_agent: Option<String>,
    pub created_at: Timestamp,
    /// When it last sent a request, to the minute.
    pub last_seen_at: Timestamp,
}

events! {
    /// A change of the signed-in browsers.
    BrowserSessionEvent {
        /// A browser signed in.
        Opened "browser_session_opened" { session: i64 }
        Revoked "browser_session_revoked" { session: i64 }
    }
}
