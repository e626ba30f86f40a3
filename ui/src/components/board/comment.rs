//! The comments of a task. Their authors can edit and delete them.

use domain::board::comment::AuthorRole;
use domain::id::TaskId;
use domain::team::agent::HUMAN;
use domain::wire::CommentView;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::SubmitEvent;

use crate::client::Client;
use crate::components::badge::team::name_heading;
use crate::components::badge::{author_label, author_tone};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, has_text};
use crate::components::icon::{CLOSE, Icon, PENCIL};
use crate::components::new_below::{NewBelow, NewItems};
use crate::components::prose::{Preview, PreviewButton};
use crate::draft::{discard, draft_from};
use crate::focus::bring_into_view;
use crate::reader::Reader;
use crate::socket::{Live, Notice};
use crate::time::Clock;

#[component]
pub(crate) fn CommentThread(
    task: TaskId,
    /// The number of comments.
    comments: Memo<u32>,
) -> impl IntoView {
    let (client, live, may_write) = (Client::from_context(), Live::from_context(), Reader::may_write());
    let thread = RwSignal::new(None::<Vec<CommentView>>);
    let load = {
        let task = task.clone();
        move || {
            let request = client.comments(task.clone());
            spawn_local(async move {
                if let Ok(list) = request.await {
                    let _panel_closed = thread.try_set(Some(list.items));
                }
            });
        }
    };
    Effect::new({
        let load = load.clone();
        move || {
            // Read, not only tracked: a memo tracks nothing before its first read.
            comments.with(|_| ());
            load();
        }
    });
    // The number stays the same when a text changes.
    live.follow(move |notice| {
        let Notice::Event(event) = notice else { return };
        if event.task_id.as_ref() == Some(&task) && event.kind() == "comment_edited" {
            load();
        }
    });
    let names = move || thread.with(|thread| Some(thread.as_ref()?.iter().map(|view| view.comment.id.to_string()).collect()));
    let new_items = NewItems::follow("data-comment", names);
    Effect::new(move |before: Option<Option<usize>>| {
        let count = thread.with(|thread| thread.as_ref().map(Vec::len));
        let has_grown = before.flatten().zip(count).is_some_and(|(before, count)| count > before);
        if has_grown
            && let Some(own) = thread.with_untracked(|thread| thread.as_ref()?.last().filter(|view| is_own(view)).map(|view| view.comment.id.clone()))
        {
            bring_into_view(format!("[data-comment='{own}']"), None);
        }
        count
    });
    let show_new = Callback::new(|comment: String| bring_into_view(format!("[data-comment='{comment}']"), None));
    view! {
        <section class="section" aria-label="Comments">
            <h2>"Comments"</h2>
            <Show when=move || comments.get() == 0>
                <p class="faint small-text">
                    {if may_write { "No comments yet. Add one below: every agent reads the comments before it starts." } else { "No comments yet." }}
                </p>
            </Show>
            <div class="thread">
                <For each=move || thread.get().unwrap_or_default() key=|view| (view.comment.id.clone(), view.comment.edited_at) let:view>
                    <CommentEntry view=view />
                </For>
            </div>
        </section>
        <NewBelow items=new_items show=show_new />
    }
}

/// Whether the reader wrote a comment.
fn is_own(view: &CommentView) -> bool {
    let comment = &view.comment;
    comment.author_role == AuthorRole::Human && Reader::current().is(comment.author_name.as_deref().unwrap_or(HUMAN))
}

#[component]
pub(crate) fn CommentEntry(view: CommentView) -> impl IntoView {
    let (client, clock) = (Client::from_context(), Clock::from_context());
    let own = Reader::may_write() && is_own(&view);
    let CommentView { comment, content_html } = view;
    let (author, at, edited) = (comment.author_role, comment.created_at, comment.edited_at);
    let name = match (author, &comment.author_name) {
        (AuthorRole::Human, name) => name_heading(name.as_deref().unwrap_or(HUMAN)),
        (_, Some(name)) => name.clone(),
        (author, None) => author_label(author).to_owned(),
    };
    let (editing, removing) = (RwSignal::new(false), RwSignal::new(false));
    let id = StoredValue::new(comment.id);
    let (written, html) = (StoredValue::new(comment.content), StoredValue::new(content_html));
    view! {
        <article class="comment" data-comment=id.with_value(ToString::to_string)>
            <header>
                <span class="role" data-tone=author_tone(author).as_str()>{name}</span>
                <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
                {edited.map(|edited| view! { <span class="faint" title=edited.to_string()>"edited"</span> })}
                {own.then(|| view! {
                    <button type="button" class="button quiet small icon spacer" aria-label="Edit comment" title="Edit" on:click=move |_| editing.set(true)>
                        <Icon drawing=PENCIL />
                    </button>
                    <button type="button" class="button quiet small icon" aria-label="Delete comment" title="Delete" on:click=move |_| removing.set(true)>
                        <Icon drawing=CLOSE />
                    </button>
                })}
            </header>
            {move || match editing.get() {
                true => view! { <CommentEditor id=id written=written.get_value() editing=editing /> }.into_any(),
                false => view! { <div class="prose" inner_html=html.get_value()></div> }.into_any(),
            }}
        </article>
        {move || removing.get().then(|| {
            let (sending, close) = (Sending::new(), Callback::new(move |()| removing.set(false)));
            let remove = move |()| sending.run(client.remove_comment(id.get_value()), move |_| close.run(()));
            view! {
                <Dialog title="Delete this comment?" close=close>
                    <Form verb="Delete" danger=true sending=sending submit=remove close=close>
                        <p>"Agents that start later will not see it. Agents that have already read it are not notified."</p>
                    </Form>
                </Dialog>
            }
        })}
    }
}

#[component]
fn CommentEditor(id: StoredValue<domain::id::CommentId>, written: String, editing: RwSignal<bool>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let key = StoredValue::new(format!("edit-comment/{}", id.get_value()));
    let text = draft_from(&key.get_value(), written);
    let previewing = RwSignal::new(false);
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        if has_text(text) {
            sending.run(client.edit_comment(id.get_value(), text.get_untracked()), move |_| {
                discard(&key.get_value());
                editing.set(false);
            });
        }
    };
    let close = move |_| {
        discard(&key.get_value());
        editing.set(false);
    };
    view! {
        <form class="comment-editor" on:submit=save>
            <textarea class="input" rows="4" aria-label="Comment" hidden=move || previewing.get() bind:value=text></textarea>
            <Preview text=text previewing=previewing />
            <div class="row">
                <PreviewButton text=text previewing=previewing />
                <button type="button" class="button small spacer" on:click=close>"Discard"</button>
                <button type="submit" class="button small" disabled=move || sending.is_busy() || !has_text(text)>"Save"</button>
            </div>
        </form>
    }
}
