//! Pushing the project branch from the landing page, and its pull request. Must not know what lands.

use domain::runs::evidence::short;
use domain::runs::publication::host::HostKind;
use domain::runs::publication::{Publication, PublicationOffer, PublicationTarget};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::form::Sending;
use crate::components::inline_code::{InlineCode, sentence};
use crate::components::runs::pull_request::{PullRequestLink, state_label};
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use crate::time::Clock;

/// Asks where the branch can be pushed, and whether a pull request can be opened.
pub(crate) fn publication_offer() -> LiveList<PublicationOffer> {
    let (client, data) = (Client::from_context(), ProjectData::from_context());
    LiveList::new(RwSignal::new(1), |_| true, move || client.publication_target(data.project())).watch()
}

/// The ways to publish the branch instead of landing it here, and the last time that it was pushed.
#[component]
pub(crate) fn PublicationSection(target: LiveList<PublicationOffer>) -> impl IntoView {
    let store = Store::from_context();
    let published = Memo::new(move |_| store.project.with(|project| project.as_ref().and_then(|project| project.published.clone())));
    let offer = move || match (target.value.get(), target.failure.get()) {
        (Some(PublicationOffer { target: Some(target), can_open }), _) => view! { <Offer target=target can_open=can_open /> }.into_any(),
        (Some(PublicationOffer { target: None, .. }), _) => view! {
            <p class="faint small-text"><InlineCode text="The repository has no remote. Add one with `git remote add origin URL`.".to_owned() /></p>
        }
        .into_any(),
        (None, Some(why)) => view! { <p class="faint small-text"><InlineCode text=sentence(&why) /></p> }.into_any(),
        (None, None) => ().into_any(),
    };
    view! {
        <section class="section" aria-labelledby="publication">
            <h3 id="publication">{move || if can_open(target) { "By pull request" } else { "Or publish the branch" }}</h3>
            {offer}
            {move || published.get().map(|published| view! { <Published published=published /> })}
        </section>
    }
    .into_any()
}

/// Whether a pull request is the usual way, because it can be opened.
pub(crate) fn can_open(offer: LiveList<PublicationOffer>) -> bool {
    offer.value.with(|offer| offer.as_ref().is_some_and(|offer| offer.can_open))
}

#[component]
fn Offer(target: PublicationTarget, can_open: bool) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let PublicationTarget { remote, url, branch, base_branch, repository } = target;
    let publish = move |pull_request| sending.run(client.publish(data.project(), pull_request), |_| {});
    let about = format!("Pushes {branch} to {url} with your own git credentials. {base_branch} stays as it is, here and on the remote.");
    let pull_request = repository.map(|repository| {
        let program = HostKind::of(&repository).program();
        let about = format!("Pushes the branch, opens a pull request to {base_branch} of {repository} with {program}, and follows it");
        view! {
            <button
                type="button"
                class="button"
                class:primary=can_open
                title=about
                disabled=move || sending.is_busy()
                on:click=move |_| publish(true)
            >
                "Open a pull request"
            </button>
        }
    });
    let buttons = Reader::may_write().then(|| {
        view! {
            <div class="row">
                {pull_request}
                <button type="button" class="button" disabled=move || sending.is_busy() on:click=move |_| publish(false)>
                    {format!("Push to {remote}")}
                </button>
            </div>
        }
    });
    view! {
        {buttons}
        <p class="faint small-text" role="status">{move || if sending.is_busy() { "Pushing…".to_owned() } else { about.clone() }}</p>
    }
    .into_any()
}

/// The last push, and its pull request.
#[component]
fn Published(published: Publication) -> impl IntoView {
    let clock = Clock::from_context();
    let Publication { remote, sha, at, pull_request, status, .. } = published;
    let state = status.map(|status| {
        let label = state_label(&status);
        let needs = status.needs_you.map(|detail| view! { <InlineCode text=format!(": {detail}") /> });
        view! { <span>{label}{needs}</span> }
    });
    let link = pull_request.map(|address| view! { <PullRequestLink address=address /> });
    view! {
        <p class="row small-text">
            <span>"Pushed " <code>{short(&sha).to_owned()}</code> " to " {remote}</span>
            <time class="faint" datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
            {link}
            {state}
        </p>
    }
}
