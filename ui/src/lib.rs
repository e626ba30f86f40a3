//! The board: `domain` drawn in the browser.
//!
//! It decides nothing. Legal moves come from the transition table, the cards from the shared reducer and everything else from the server,
//! whose refusals are shown with their next step.

#![expect(unreachable_pub, reason = "the component macro writes `pub` for its own items")]

mod address;
mod app;
mod change;
mod client;
mod components;
mod draft;
mod drag;
mod event_history;
mod filter;
mod focus;
mod folded_groups;
mod grouping;
mod invalidation;
mod keys;
mod lazy;
mod live_list;
mod markdown;
mod moves;
mod notifications;
mod overview;
mod paged_list;
mod pages;
mod palette;
mod parts;
mod pixels;
mod project_data;
mod reader;
mod replay;
mod reveal;
mod route;
mod saved_view;
mod selection;
mod session_key;
mod socket;
mod storage;
mod store;
mod task_data;
#[cfg(test)]
mod testing;
mod text_diff;
mod thread;
mod time;

/// Draws the board into the page.
pub fn mount() {
    leptos::mount::mount_to_body(app::App);
}
