//! The list of keyboard shortcuts.

use leptos::prelude::*;

use crate::components::dialog::Dialog;
use crate::keys::HELP;

#[component]
pub(crate) fn HelpDialog(close: Callback<()>) -> impl IntoView {
    let rows = HELP
        .map(|(keys, what)| {
            let keys = keys.split(' ').map(|key| view! { <kbd>{key}</kbd> }).collect_view();
            view! {
                <dt class="row">{keys}</dt>
                <dd>{what}</dd>
            }
        })
        .collect_view();
    view! {
        <Dialog title="Keyboard shortcuts" close=close>
            <dl class="details">{rows}</dl>
            <p class="soft small-text">"You can also drag cards. On a touch screen, use the grip in the corner of the card."</p>
        </Dialog>
    }
}
