//! A task's thread: what every role left for the next one.

use domain::id::TaskId;
use domain::wire::CommentView;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::{author_tone, author_word};
use crate::time::Clock;

#[component]
pub(crate) fn CommentThread(
    task: TaskId,
    /// How many there are; they are read again when it changes.
    comments: Memo<u32>,
) -> impl IntoView {
    let client = Client::here();
    let thread = RwSignal::new(Vec::<CommentView>::new());
    Effect::new(move || {
        // Read and not only tracked: a memo follows nothing before it was read.
        comments.with(|_| ());
        let request = client.comments(task.clone());
        spawn_local(async move {
            if let Ok(list) = request.await {
                let _closed_meanwhile = thread.try_set(list.items);
            }
        });
    });
    view! {
        <section class="section" aria-label="Comments">
            <h2>"Comments"</h2>
            <Show when=move || comments.get() == 0>
                <p class="faint small-text">"Nobody said anything yet. Agents read the whole thread when they begin."</p>
            </Show>
            <div class="thread">
                <For each=move || thread.get() key=|view| view.comment.id.clone() let:view>
                    <Comment view=view />
                </For>
            </div>
        </section>
    }
}

#[component]
fn Comment(view: CommentView) -> impl IntoView {
    let clock = Clock::here();
    let (author, at) = (view.comment.author_role, view.comment.created_at);
    let name = view.comment.author_name.unwrap_or_else(|| author_word(author).to_owned());
    view! {
        <article class="comment">
            <header>
                <span class="role" data-tone=author_tone(author).as_str()>{name}</span>
                <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
            </header>
            <div class="prose" inner_html=view.content_html></div>
        </article>
    }
}
