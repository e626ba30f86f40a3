//! Archived projects: their list, and the banner on the board of one.

use domain::board::project::Project;
use domain::board::project::summary::ProjectSummary;
use domain::team::person::Right;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::board::delete_project::DeleteProjectDialog;
use crate::live_list::LiveList;
use crate::project_data::items;
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::socket::{Live, Notice};
use crate::store::Store;
use crate::time::{Clock, local_time};

/// The archived projects below the current ones. Without any, nothing is shown.
#[component]
pub(crate) fn ArchivedProjects() -> impl IntoView {
    let client = Client::from_context();
    let revision = RwSignal::new(1_u32);
    Live::from_context().follow(move |notice| {
        if matches!(notice, Notice::Connected { .. }) || matches!(notice, Notice::Event(event) if event.kind().starts_with("project_")) {
            revision.update(|revision| *revision = revision.wrapping_add(1));
        }
    });
    let list = LiveList::new(revision, |_| false, move || items(client.archived_projects())).watch();
    let projects = move || list.value.get().unwrap_or_default();
    let count = Memo::new(move |_| list.value.with(|projects| projects.as_ref().map_or(0, Vec::len)));
    // Outside of the list, so that an event keeps the typed title.
    let deleting = RwSignal::new(None::<Project>);
    view! {
        <Show when=move || count.get() != 0>
            <details class="archived">
                <summary>{move || format!("Archived ({})", count.get())}</summary>
                <ul class="box box-list">
                    <For each=projects key=|summary| (summary.project.id.clone(), summary.project.updated_at) let:summary>
                        <ArchivedProject summary=summary deleting=deleting />
                    </For>
                </ul>
            </details>
        </Show>
        {move || deleting.get().map(|project| view! { <DeleteProjectDialog project=project close=Callback::new(move |()| deleting.set(None)) /> })}
    }
    .into_any()
}

#[component]
fn ArchivedProject(summary: ProjectSummary, deleting: RwSignal<Option<Project>>) -> impl IntoView {
    let (client, navigation, clock) = (Client::from_context(), Navigation::from_context(), Clock::from_context());
    let project = summary.project;
    let (id, route) = (project.id.clone(), Route::Board { project: project.id.clone(), task: None });
    let (since, is_deleted) = (project.deleted_at.or(project.archived_at).unwrap_or(project.updated_at), project.deleted_at.is_some());
    let state = move || format!("{} {}", if is_deleted { "deleted" } else { "archived" }, clock.ago(since));
    let restore = (!is_deleted && Reader::may_write()).then(|| {
        view! {
            <button type="button" class="button small" on:click=move |_| client.act(client.set_archived(id.clone(), false), |_| {})>"Restore"</button>
        }
    });
    let title = project.title.clone();
    let delete = (!is_deleted && Reader::current().may(Right::Administer)).then(|| {
        view! { <button type="button" class="button small danger" on:click=move |_| deleting.set(Some(project.clone()))>"Delete…"</button> }
    });
    view! {
        <li>
            <a class="task-link grow" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{title}</a>
            <span class="faint">{state}</span>
            {restore}
            {delete}
        </li>
    }
    .into_any()
}

/// Says on the board of an archived or deleted project what that means.
#[component]
pub(crate) fn ArchivedBanner() -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let state = Memo::new(move |_| {
        store
            .project
            .with(|project| project.as_ref().and_then(|project| Some((project.id.clone(), project.archived_at?, project.deleted_at.is_some()))))
    });
    move || {
        let (project, since, is_deleted) = state.get()?;
        let (heading, effect) = if is_deleted {
            ("This project is deleted", "Its unmerged work is kept first. Then the project disappears. A card that needs you delays this.".to_owned())
        } else {
            ("This project is archived", format!("Since {}. No agent starts.", local_time(since)))
        };
        let restore = (!is_deleted && Reader::may_write()).then(|| {
            let act = move |_| client.act(client.set_archived(project.clone(), false), |_| {});
            view! { <button type="button" class="button small spacer" on:click=act>"Restore"</button> }
        });
        Some(
            view! {
                <div class="banner" data-tone="warn" role="status">
                    <strong>{heading}</strong>
                    <span>{effect}</span>
                    {restore}
                </div>
            }
            .into_any(),
        )
    }
}
