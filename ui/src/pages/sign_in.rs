//! The page for a browser without a session. The server prints a one-time sign-in link.

use leptos::prelude::*;

#[component]
pub(crate) fn SignInPage() -> impl IntoView {
    view! {
        <main class="page sign-in">
            <div class="empty">
                <h1>"Sign in to vibe-relay"</h1>
                <p>
                    "This browser is not signed in. Open the link that " <code>"vibe-relay serve"</code>
                    " printed. It works once and stores a cookie."
                </p>
                <p class="small-text">"To get a new link, restart the server. Running agents continue."</p>
                <button type="button" class="button primary" on:click=move |_| {
                    let _reloading = window().location().reload();
                }>"Try again"</button>
            </div>
        </main>
    }
}
