//! The local storage of the browser, which a person can switch off. Must not know what is stored.

use leptos::prelude::window;
use web_sys::Storage;

/// Returns the local storage of the board, if the browser has one for it.
pub(crate) fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}
