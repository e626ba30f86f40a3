//! The board: `domain` drawn in the browser.

use leptos::prelude::*;

/// Draws the board into the page.
pub fn mount() {
    leptos::mount::mount_to_body(|| view! { <p>"vibe-relay"</p> });
}
