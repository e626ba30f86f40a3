//! The landing page: what would land on the base branch, like a pull request, and what earlier landings brought.
//!
//! Must not decide whether landing is allowed: the preview says so, and the server decides about each landing.

use domain::id::ProjectId;
use domain::runs::evidence::short;
use domain::runs::land::preview::{LandingPreview, LandingWay};
use domain::runs::land::{Landing, ReturningCommits};
use domain::runs::preview::PreviewSubject;
use domain::runs::usage::money;
use leptos::ev;
use leptos::prelude::*;

use crate::client::{Client, Failure};
use crate::components::badge::Tone;
use crate::components::badge::team::name_label;
use crate::components::copy_button::CopyField;
use crate::components::form::Sending;
use crate::components::glyph::{Glyph, StateGlyph};
use crate::components::icon::{BRANCH, Icon};
use crate::components::inline_code::{InlineCode, sentence};
use crate::components::runs::land::check::{LandCheck, checks, counted};
use crate::components::runs::land::contents::LandingContents;
use crate::components::runs::land::{can_land, landed_label};
use crate::components::runs::preview::AppBox;
use crate::components::runs::publication::{PublicationSection, can_open, publication_offer};
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::local_time;

#[component]
pub(crate) fn LandPage() -> impl IntoView {
    let (client, store, navigation) = (Client::from_context(), Store::from_context(), Navigation::from_context());
    let data = ProjectData::from_context();
    let asked = Memo::new(move |_| match navigation.get() {
        Route::Land { landing, .. } => landing,
        _ => None,
    });
    // The parts of the board that a preview depends on.
    let version = Memo::new(move |_| {
        let project = store.project.get();
        let branches = project.map(|project| (project.base_branch, project.base_head, project.integration_head, project.landed));
        (asked.get(), branches, store.totals.get(), store.flow.get())
    });
    let revision = RwSignal::new(0_u32);
    Effect::new(move || {
        version.with(|_| ());
        revision.update(|revision| *revision += 1);
    });
    let preview = LiveList::new(revision, |_| false, move || shown(client, data.project(), asked.get_untracked())).watch();
    // The repository and the checkout change without an event.
    let focused = window_event_listener(ev::focus, move |_| preview.refetch());
    on_cleanup(move || focused.remove());

    let (sending, diff) = (RwSignal::new(false), RwSignal::new(false));
    let land = Callback::new(move |bring_back: Option<String>| {
        sending.set(true);
        let project = data.project();
        let request = async move {
            client.land(project.clone(), bring_back).await?;
            client.landing(project, None).await
        };
        client.watch(request, move |result| {
            if sending.try_set(false).is_some() {
                return;
            }
            match result {
                Ok(after) => {
                    diff.set(false);
                    navigation.go(Route::Land { project: data.project(), landing: after.landings.first().map(|landing| landing.id) });
                }
                Err(_) => preview.refetch(),
            }
        });
    });

    let known = Memo::new(move |_| preview.value.get());
    let failure = move || preview.failure.get().filter(|_| known.with(Option::is_none));
    move || match (known.get(), failure()) {
        (Some(preview), _) if preview.landing.is_none() && !preview.has_work() => {
            view! { <NothingToLand why="no task is merged into the project branch yet".to_owned() /> }.into_any()
        }
        (Some(preview), _) => view! { <LandingView preview=preview diff=diff sending=sending land=land /> }.into_any(),
        (None, Some(why)) => view! { <NothingToLand why=why /> }.into_any(),
        (None, None) => view! { <p class="empty soft" role="status">"Reading the repository…"</p> }.into_any(),
    }
}

#[component]
fn NothingToLand(why: String) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>"Nothing to land yet"</h2>
            <p><InlineCode text=sentence(&why) /></p>
            <BackToBoard />
        </div>
    }
}

/// The landing that was asked for, or what would land now. Without any work to land, the last landing stays on the page.
async fn shown(client: Client, project: ProjectId, asked: Option<i64>) -> Result<LandingPreview, Failure> {
    let preview = client.landing(project.clone(), asked).await?;
    match preview.landings.first().filter(|_| asked.is_none() && !preview.has_work()) {
        Some(last) => client.landing(project, Some(last.id)).await,
        None => Ok(preview),
    }
}

#[component]
fn LandingView(preview: LandingPreview, diff: RwSignal<bool>, sending: RwSignal<bool>, land: Callback<Option<String>>) -> impl IntoView {
    let (head, side) = match preview.landing.clone() {
        Some(landing) => (
            view! { <LandedHead landing=landing.clone() /> }.into_any(),
            view! { <LandedSide landing=landing all=preview.landings.clone() /> }.into_any(),
        ),
        None => (
            view! { <PendingHead preview=preview.clone() /> }.into_any(),
            view! { <PendingSide preview=preview.clone() sending=sending land=land /> }.into_any(),
        ),
    };
    view! {
        <div class="doc">
            <div class="doc-main">
                {head}
                <LandingContents preview=preview diff=diff />
            </div>
            {side}
        </div>
    }
}

#[component]
fn PendingHead(preview: LandingPreview) -> impl IntoView {
    let title = Store::from_context().project.with_untracked(|project| project.as_ref().map(|project| project.title.clone()).unwrap_or_default());
    let LandingPreview { from_branch, to_branch, change, tasks, cost_micro_usd, .. } = preview;
    let heading = format!("Land {title} on {to_branch}");
    let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    let facts = [(tasks.len(), "task"), (count(change.commits_total), "commit"), (count(change.size.files), "file")];
    let facts =
        facts.map(|(count, noun)| view! { <div><dd>{count}</dd><dt>{if count == 1 { noun.to_owned() } else { format!("{noun}s") }}</dt></div> });
    view! {
        <header class="doc-head">
            <p class="faint">"From " <code>{from_branch}</code> " to " <code>{to_branch}</code></p>
            <h2>{heading}</h2>
            <dl class="doc-facts">
                {facts.collect_view()}
                <div>
                    <dd><span class="added">{format!("+{}", change.size.added)}</span>" "<span class="removed">{format!("−{}", change.size.removed)}</span></dd>
                    <dt>"lines"</dt>
                </div>
                {money(cost_micro_usd).map(|cost| view! { <div><dd>{cost}</dd><dt>"spent on these"</dt></div> })}
            </dl>
        </header>
    }
}

/// The facts about the landing, and the one button.
#[component]
fn PendingSide(preview: LandingPreview, sending: RwSignal<bool>, land: Callback<Option<String>>) -> impl IntoView {
    let may_write = Reader::may_write();
    let blocked = preview.is_blocked();
    let returning = match &preview.change.way {
        LandingWay::Returns { returning } => Some(returning.clone()),
        _ => None,
    };
    let (tasks, to) = (preview.tasks.len(), preview.to_branch.clone());
    let offer = publication_offer();
    let facts = checks(&preview).into_iter().map(|check| view! { <Check check=check /> }).collect_view();
    let confirmation = returning.as_ref().map(|returning| returning.confirmation.clone());
    let act = Callback::new(move |()| land.run(confirmation.clone()));
    if may_write && !blocked && returning.is_none() {
        let pressed = window_event_listener(ev::keydown, move |event| {
            if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) && !sending.get_untracked() {
                event.prevent_default();
                act.run(());
            }
        });
        on_cleanup(move || pressed.remove());
    }
    let verb = returning.as_ref().map_or_else(
        || format!("Land on {to}"),
        |returning| match returning.total {
            1 => "Bring it back and land".to_owned(),
            total => format!("Bring back all {total} and land"),
        },
    );
    let about = match (blocked, tasks) {
        (true, _) => "Landing is blocked. Nothing was changed.".to_owned(),
        (false, 0) => format!("This moves {to}. Nothing is pushed."),
        (false, tasks) => format!("This brings {} to {to}. Nothing is pushed.", counted(tasks, "task")),
    };
    view! {
        <aside class="doc-side" aria-label="Landing">
            <section class="box land-checks">
                <ul>{facts}</ul>
                {returning.map(|returning| view! { <Returning returning=returning /> })}
            </section>
            <div class="doc-act">
                {if may_write {
                    view! {
                        <button
                            type="button"
                            class="button big"
                            class:primary=move || !can_open(offer)
                            title="Ctrl+Enter"
                            aria-keyshortcuts="Control+Enter"
                            aria-describedby="land-about"
                            disabled=move || blocked || sending.get()
                            aria-busy=move || sending.get().to_string()
                            on:click=move |_| act.run(())
                        >
                            <Icon drawing=BRANCH />
                            {verb}
                        </button>
                    }
                    .into_any()
                } else {
                    view! { <p class="soft">{READ_ONLY}</p> }.into_any()
                }}
                <p id="land-about" class="faint small-text">{about}</p>
            </div>
            <ProjectApp />
            <PublicationSection target=offer />
        </aside>
    }
}

/// The app of the project branch, to try before it lands.
#[component]
fn ProjectApp() -> impl IntoView {
    let (store, data) = (Store::from_context(), ProjectData::from_context());
    let preview = Memo::new(move |_| store.project.with(|project| project.as_ref().and_then(|project| project.preview.clone())));
    let offered = Memo::new(move |_| {
        store.project.with(|project| project.as_ref().is_some_and(|project| project.profile.preview.is_some() && project.merged_at.is_some()))
    });
    view! { <AppBox subject=PreviewSubject::Project(data.project()) preview=preview offered=offered /> }
}

#[component]
fn Check(check: LandCheck) -> impl IntoView {
    let (glyph, label) = match check.tone {
        Tone::Good => (Glyph::Done, "In order"),
        Tone::Bad => (Glyph::Failed, "Blocks landing"),
        Tone::Warn => (Glyph::Question, "Needs your decision"),
        _ => (Glyph::Ring, "Note"),
    };
    view! {
        <li>
            <StateGlyph glyph=glyph tone=check.tone label=label />
            <div>
                <p>{check.fact}</p>
                {(!check.detail.is_empty()).then(|| view! { <p class="faint">{check.detail}</p> })}
            </div>
        </li>
    }
}

/// The commits that would return to the base branch.
#[component]
fn Returning(returning: ReturningCommits) -> impl IntoView {
    let hidden = returning.total.saturating_sub(u32::try_from(returning.commits.len()).unwrap_or(u32::MAX));
    let commits = returning.commits.into_iter().map(|commit| {
        let sha = short(&commit.sha).to_owned();
        view! { <li><code>{sha}</code> " " {commit.subject} <span class="faint">" · " {commit.author}</span></li> }
    });
    view! {
        <ul class="returning small-text">
            {commits.collect_view()}
            {(hidden > 0).then(|| view! { <li>{format!("and {hidden} more")}</li> })}
        </ul>
        <p class="faint small-text">"To exclude them, cherry-pick the other commits manually."</p>
    }
}

/// The lasting state after a landing.
#[component]
fn LandedHead(landing: Landing) -> impl IntoView {
    let (store, navigation, data) = (Store::from_context(), Navigation::from_context(), ProjectData::from_context());
    let count = |count: u32, noun| counted(usize::try_from(count).unwrap_or(usize::MAX), noun);
    let about = format!(
        "By {} at {}, with {} and {}. {}",
        name_label(&landing.by.to_string()),
        local_time(landing.at),
        count(landing.tasks, "task"),
        count(landing.commits, "commit"),
        match (landing.undone_at, &landing.pull_request) {
            (Some(at), _) => format!("Undone at {}.", local_time(at)),
            (None, Some(_)) => format!("Pull to get it on {} here.", landing.base_branch),
            (None, None) => "Nothing was pushed.".to_owned(),
        }
    );
    let can_land = can_land(store);
    let next = Route::Land { project: data.project(), landing: None };
    let (glyph, tone, label) = if landing.undone_at.is_some() { (Glyph::Ring, Tone::Neutral, "Undone") } else { (Glyph::Done, Tone::Good, "Done") };
    view! {
        <section class="landed" role="status">
            <h2><StateGlyph glyph=glyph tone=tone label=label />
                {landed_label(&landing)}</h2>
            <p class="soft">{about}</p>
            <div class="row">
                <BackToBoard primary=true />
                <UndoButton landing=landing />
                <Show when=move || can_land.get()>
                    <a class="button" href=next.path() on:click={
                        let next = next.clone();
                        move |event| navigation.follow(&event, next.clone())
                    }>"See what can land now"</a>
                </Show>
            </div>
        </section>
    }
}

/// The button that takes the last landing back. Landing again is the way to undo that, so it asks nothing.
#[component]
fn UndoButton(landing: Landing) -> impl IntoView {
    let (client, store, navigation, data) = (Client::from_context(), Store::from_context(), Navigation::from_context(), ProjectData::from_context());
    let (sending, number) = (Sending::new(), landing.id);
    let is_last = Memo::new(move |_| {
        store.project.with(|project| project.as_ref().and_then(|project| project.landed.as_ref()).is_some_and(|last| last.id == number))
    });
    let about = format!(
        "Sets {} back to {}, and the files of your checkout of it. This is refused once it has been pushed.",
        landing.base_branch,
        short(&landing.before_sha)
    );
    let undo = move |_| {
        sending.run(client.undo_landing(data.project(), number), move |_| navigation.go(Route::Land { project: data.project(), landing: None }));
    };
    let may_write = Reader::may_write() && landing.before_sha != landing.sha && landing.pull_request.is_none();
    view! {
        <Show when=move || may_write && is_last.get()>
            <button type="button" class="button" title=about.clone() disabled=move || sending.is_busy() on:click=undo>
                "Undo this landing"
            </button>
        </Show>
    }
}

/// The branch before and after, how to push it, and the other landings.
#[component]
fn LandedSide(landing: Landing, all: Vec<Landing>) -> impl IntoView {
    let (navigation, project) = (Navigation::from_context(), ProjectData::from_context().project());
    let push = (landing.undone_at.is_none() && landing.pull_request.is_none()).then(|| format!("git push origin {}", landing.base_branch));
    let others = all.into_iter().filter(|other| other.id != landing.id).map(|other| {
        let route = Route::Land { project: project.clone(), landing: Some(other.id) };
        view! {
            <li>
                <a href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{landed_label(&other)}</a>
                <span class="faint tabular">{local_time(other.at)}</span>
            </li>
        }
    });
    let others = others.collect_view();
    let none = others.is_empty().then(|| view! { <p class="faint">"None in this project."</p> });
    view! {
        <aside class="doc-side" aria-label="Landings">
            <dl class="details">
                <dt>"Before"</dt>
                <dd><code>{short(&landing.before_sha).to_owned()}</code></dd>
                <dt>"After"</dt>
                <dd><code>{short(&landing.sha).to_owned()}</code></dd>
            </dl>
            {push.map(|push| view! { <CopyField label="To push it" text=push /> })}
            <section class="section" aria-label="Other landings">
                <h3>"Other landings"</h3>
                {none}
                <ul class="landings">{others}</ul>
            </section>
        </aside>
    }
}

#[component]
fn BackToBoard(#[prop(optional)] primary: bool) -> impl IntoView {
    let navigation = Navigation::from_context();
    let route = Route::Board { project: ProjectData::from_context().project(), task: None };
    view! {
        <a class="button" class:primary=primary href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
            "Back to the board"
        </a>
    }
}
