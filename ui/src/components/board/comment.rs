//! The comments of a task.

use domain::board::comment::AuthorRole;
use domain::id::TaskId;
use domain::team::agent::HUMAN;
use domain::wire::CommentView;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::team::name_heading;
use crate::components::badge::{author_label, author_tone};
use crate::reader::Reader;
use crate::time::Clock;

#[component]
pub(crate) fn CommentThread(
    task: TaskId,
    /// The number of comments. A change requests them again.
    comments: Memo<u32>,
) -> impl IntoView {
    let (client, may_write) = (Client::from_context(), Reader::may_write());
    let thread = RwSignal::new(Vec::<CommentView>::new());
    Effect::new(move || {
        // Read, not only tracked: a memo tracks nothing before its first read.
        comments.with(|_| ());
        let request = client.comments(task.clone());
        spawn_local(async move {
            if let Ok(list) = request.await {
                let _panel_closed = thread.try_set(list.items);
            }
        });
    });
    view! {
        <section class="section" aria-label="Comments">
            <h2>"Comments"</h2>
            <Show when=move || comments.get() == 0>
                <p class="faint small-text">
                    {if may_write { "No comments yet. Add one below: every agent reads the comments before it starts." } else { "No comments yet." }}
                </p>
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
    let clock = Clock::from_context();
    let (author, at) = (view.comment.author_role, view.comment.created_at);
    let name = match (author, view.comment.author_name) {
        (AuthorRole::Human, name) => name_heading(name.as_deref().unwrap_or(HUMAN)),
        (_, Some(name)) => name,
        (author, None) => author_label(author).to_owned(),
    };
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
