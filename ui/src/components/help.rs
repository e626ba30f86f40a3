//! The list of keyboard shortcuts.

use leptos::prelude::*;

use crate::components::dialog::Dialog;
use crate::keys::{HELP, REVIEW_HELP};

#[component]
pub(crate) fn HelpDialog(close: Callback<()>) -> impl IntoView {
    let row = |(keys, what): &(&'static str, &'static str)| {
        let keys = keys.split(' ').map(|key| view! { <kbd>{key}</kbd> }).collect_view();
        view! {
            <dt class="row">{keys}</dt>
            <dd>{*what}</dd>
        }
    };
    view! {
        <Dialog title="Keyboard shortcuts" close=close>
            <dl class="details">{HELP.iter().map(row).collect_view()}</dl>
            <h2>"In a review"</h2>
            <dl class="details">{REVIEW_HELP.iter().map(row).collect_view()}</dl>
            <p class="soft small-text">"You can also drag cards. On a touch screen, use the grip in the corner of the card."</p>
        </Dialog>
    }
}
