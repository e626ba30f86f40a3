//! The session key: the part of the secret of this browser's session that is not in its cookie. Browsers send the cookie to every port of the
//! host, but keep storage apart for each port, so the app of a task never has the key.
//!
//! Must not know who signed in.

use domain::team::browser_session::{SESSION_KEY_FRAGMENT, SESSION_KEY_PROTOCOL, SOCKET_PROTOCOL};
use leptos::prelude::window;
use leptos::wasm_bindgen::JsValue;

use crate::storage::storage;

/// The entry in the storage.
const ENTRY: &str = "session-key";

pub(crate) struct SessionKey {
    value: Option<String>,
    /// Whether the storage has it, or cannot have it.
    is_settled: bool,
}

impl SessionKey {
    /// Takes the key from the address after a sign-in, or else from the storage. The address does not show it any longer.
    pub(crate) fn take() -> Self {
        match take_from_address() {
            Some(value) => Self { value: Some(value), is_settled: false },
            None => Self { value: stored(), is_settled: true },
        }
    }

    pub(crate) fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// The subprotocols that the live connection offers.
    pub(crate) fn protocols(&self) -> Vec<String> {
        let key = self.value.as_ref().map(|value| format!("{SESSION_KEY_PROTOCOL}{value}"));
        [SOCKET_PROTOCOL.to_owned()].into_iter().chain(key).collect()
    }

    /// Stores the key after the server accepted it. Anyone can make a link with some key, which must not replace the valid one. Without storage,
    /// the key lasts until the page is closed.
    pub(crate) fn settle(&mut self) {
        if let (false, Some(value)) = (self.is_settled, &self.value) {
            let _stored = storage().map(|storage| storage.set_item(ENTRY, value));
            self.is_settled = true;
        }
    }

    /// Whether the storage has another key: that of a later sign-in, or the valid one when this one came with a link.
    pub(crate) fn is_outdated(&self) -> bool {
        stored().is_some_and(|stored| self.value.as_ref() != Some(&stored))
    }
}

fn take_from_address() -> Option<String> {
    let location = window().location();
    let key = key_in(&location.hash().ok()?)?.to_owned();
    let (path, query) = (location.pathname().ok()?, location.search().ok()?);
    let _replaced = window().history().ok()?.replace_state_with_url(&JsValue::NULL, "", Some(&format!("{path}{query}")));
    Some(key)
}

/// The key in the fragment of an address.
fn key_in(fragment: &str) -> Option<&str> {
    let key = fragment.strip_prefix('#')?.strip_prefix(SESSION_KEY_FRAGMENT)?;
    // Nothing else can be sent in a header and as a subprotocol.
    (!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(key)
}

fn stored() -> Option<String> {
    storage()?.get_item(ENTRY).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_read_from_its_fragment_only() {
        assert_eq!(key_in("#session-key=0a1B"), Some("0a1B"));
        for other in ["", "#", "#session-key=", "session-key=0a", "#section", "#key=0a", "#session-key=0a&b", "#session-key=0%0a", "#session-key=ä"]
        {
            assert_eq!(key_in(other), None, "{other}");
        }
    }

    #[test]
    fn socket_offers_the_key_beside_the_protocol_that_the_server_accepts() {
        let key = |value: Option<&str>| SessionKey { value: value.map(str::to_owned), is_settled: true };
        assert_eq!(key(Some("0a")).protocols(), ["vibe-relay", "vibe-relay.session-key.0a"]);
        assert_eq!(key(None).protocols(), ["vibe-relay"]);
    }
}
