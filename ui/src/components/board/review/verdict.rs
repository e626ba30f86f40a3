//! The column beside the changes: the reviewer's verdict, the words of the agents, earlier rounds, the task, and the reader's own comments.

use domain::board::comment::AuthorRole;
use domain::board::review::{LineComment, Verdict};
use domain::board::review_round::ReviewRound;
use domain::runs::evidence::short;
use domain::wire::{CommentView, ReviewView};
use leptos::prelude::*;

use crate::components::badge::team::name_heading;
use crate::components::badge::{Badge, Tone, author_label};
use crate::components::board::review::comment::focus_line;
use crate::components::board::review::state::{Place, Review};
use crate::components::icon::{CLOSE, Icon};
use crate::time::Clock;

#[component]
pub(crate) fn Beside(view: ReviewView) -> impl IntoView {
    let head = view.head.unwrap_or_default();
    let rounds = view.rounds;
    view! {
        <section aria-label="Verdict">
            <h2>"Review"</h2>
            <LatestVerdict verdict=view.verdict head=head />
            {view.protected.map(|paths| view! { <p class="notice" data-tone="warn">{format!("Changes protected paths: {paths}.")}</p> })}
            {view.words.into_iter().map(|words| view! { <Words words=words /> }).collect_view()}
        </section>
        <OwnComments />
        {view.description_html.map(|html| view! {
            <details class="beside-details" open=true>
                <summary>"Task"</summary>
                <div class="prose" inner_html=html></div>
            </details>
        })}
        {(!rounds.is_empty()).then(|| view! { <Rounds rounds=rounds /> })}
    }
}

#[component]
fn LatestVerdict(verdict: Option<Verdict>, head: String) -> impl IntoView {
    let clock = Clock::from_context();
    let Some(verdict) = verdict else { return view! { <p class="soft small-text">"No verdict yet."</p> }.into_any() };
    let (label, tone) = if verdict.approved { ("Approved", Tone::Good) } else { ("Sent back", Tone::Warn) };
    let is_earlier = verdict.sha != head;
    let (by, at) = (name_heading(&verdict.by.to_string()), verdict.created_at);
    view! {
        <p class="row small-text">
            <Badge label=format!("{label} {}", short(&verdict.sha)) tone=tone />
            <span class="soft">{move || format!("{by}, {}", clock.ago(at))}</span>
        </p>
        {is_earlier.then(|| view! { <p class="soft small-text">"That was an earlier commit."</p> })}
    }
    .into_any()
}

#[component]
fn Words(words: CommentView) -> impl IntoView {
    let author = words.comment.author_role;
    let heading = match (author, words.comment.author_name) {
        (AuthorRole::Agent, Some(name)) => name,
        (author, _) => author_label(author).to_owned(),
    };
    view! {
        <article class="said">
            <h3>{heading}</h3>
            <div class="prose" inner_html=words.content_html></div>
        </article>
    }
}

#[component]
fn Rounds(rounds: Vec<ReviewRound>) -> impl IntoView {
    let summary = if rounds.len() == 1 { "Sent back once".to_owned() } else { format!("Sent back {} times", rounds.len()) };
    let items = rounds.into_iter().rev().map(|round| {
        view! {
            <li>
                <p class="small-text soft">{format!("Round {} at {}, by {}", round.number, short(&round.sha), name_heading(&round.by.to_string()))}</p>
                <p class="findings small-text">{round.findings}</p>
            </li>
        }
    });
    view! {
        <details class="beside-details">
            <summary>{summary}</summary>
            <ul>{items.collect_view()}</ul>
        </details>
    }
}

/// The comments that go with the decision, and those on an earlier commit.
#[component]
fn OwnComments() -> impl IntoView {
    let review = Review::from_context();
    let current = Memo::new(move |_| review.comments());
    let earlier = Memo::new(move |_| review.earlier_comments());
    let list = move |comments: Vec<LineComment>| comments.into_iter().map(|comment| view! { <OwnComment comment=comment /> }).collect_view();
    view! {
        <Show when=move || !current.with(Vec::is_empty)>
            <section aria-label="Your comments">
                <h2>"Your comments"</h2>
                <ul class="own-comments">{move || list(current.get())}</ul>
            </section>
        </Show>
        <Show when=move || !earlier.with(Vec::is_empty)>
            <section aria-label="Your comments on an earlier commit">
                <h2>"On an earlier commit"</h2>
                <p class="soft small-text">"They are sent too, with their commit. Remove those that no longer apply."</p>
                <ul class="own-comments">{move || list(earlier.get())}</ul>
            </section>
        </Show>
    }
}

#[component]
fn OwnComment(comment: LineComment) -> impl IntoView {
    let review = Review::from_context();
    let place = Place::of(&comment);
    let commit = comment.sha.as_deref().map(|sha| format!(" at {}", short(sha))).unwrap_or_default();
    let label = format!("{}{commit}", place.label());
    let text = comment.text.clone();
    view! {
        <li>
            <button type="button" class="own-comment" on:click=move |_| focus_line(&place)>
                <span class="mono faint">{label.clone()}</span>
                <span class="text">{text}</span>
            </button>
            <button
                type="button"
                class="button quiet icon small"
                aria-label=format!("Remove the comment on {label} from the list")
                on:click=move |_| review.remove_comment(&comment)
            >
                <Icon drawing=CLOSE />
            </button>
        </li>
    }
}
