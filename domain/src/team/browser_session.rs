//! Browser sessions: the browsers that a person signed in. Their secrets are not part of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::time::Timestamp;

/// The time that a browser stays signed in.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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
