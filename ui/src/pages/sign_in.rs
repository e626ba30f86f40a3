//! The page for a browser without a session. The server prints a one-time sign-in link.

use leptos::prelude::*;

#[component]
pub(crate) fn SignInPage() -> impl IntoView {
    // The server answers a used link with the board, which finds no session.
    let is_used_link = window().location().pathname().is_ok_and(|path| path == "/sign-in");
    let (heading, reason) = if is_used_link {
        ("This link has expired", "A sign-in link works once, and this one was used or has expired. ")
    } else {
        ("Sign in to vibe-relay", "This browser is not signed in. ")
    };
    view! {
        <main class="page sign-in">
            <div class="empty">
                <h1>{heading}</h1>
                <p>
                    {reason} "Open the newest link that " <code>"vibe-relay serve"</code>
                    " printed. It works once and signs this browser in."
                </p>
                <p class="small-text">"To get a new link, run " <code>"vibe-relay open"</code> " on the machine of the board."</p>
                <button type="button" class="button primary" on:click=move |_| {
                    let _reloading = window().location().reload();
                }>"Try again"</button>
            </div>
        </main>
    }
}
