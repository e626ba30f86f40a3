//! What is shown to a browser that the server does not know. Signing in is the server's business: it hands out a one-time link.

use leptos::prelude::*;

#[component]
pub(crate) fn SignInPage() -> impl IntoView {
    view! {
        <main class="page">
            <div class="empty">
                <h2>"Sign in"</h2>
                <p>
                    "This browser is not known to the server yet. Open the link that " <code>"vibe-relay serve"</code>
                    " printed: it works once and leaves a cookie here."
                </p>
                <p class="small-text">"No link at hand? Start the server again; it prints a new one, and running agents go on."</p>
                <button type="button" class="button primary" on:click=move |_| {
                    let _reloading = window().location().reload();
                }>"I opened the link: try again"</button>
            </div>
        </main>
    }
}
