//! The dialog with the work that was kept before its branch or checkout was removed. Must not know how git keeps it.

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::evidence::short;
use domain::runs::rescue::{Rescue, RestoreRescue, size};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::Sending;
use crate::live_list::LiveList;
use crate::reader::Reader;
use crate::time::local_time;

#[component]
pub(crate) fn RescuesDialog(project: Project, close: Callback<()>) -> impl IntoView {
    let client = Client::from_context();
    let id = StoredValue::new(project.id);
    let kept = LiveList::new(RwSignal::new(1), |_| true, move || client.rescues(id.get_value())).watch();
    let list = move || match (kept.value.get(), kept.failure.get()) {
        (Some(list), _) if list.items.is_empty() => {
            view! { <p class="soft">"Nothing here yet. When a branch or worktree is removed, its unmerged work is kept here."</p> }.into_any()
        }
        (Some(list), _) => {
            let rows = list.items.into_iter().map(|rescue| view! { <RescueRow project=id.get_value() rescue=rescue /> }).collect_view();
            view! { <ul class="kept-work">{rows}</ul> }.into_any()
        }
        (None, Some(why)) => view! { <p class="notice" data-tone="bad" role="alert">{why}</p> }.into_any(),
        (None, None) => view! { <p class="faint">"Loading…"</p> }.into_any(),
    };
    view! {
        <Dialog title="Kept work" close=close>
            {list}
            <p class="row"><button type="button" class="button spacer" on:click=move |_| close.run(())>"Close"</button></p>
        </Dialog>
    }
    .into_any()
}

/// Kept work, and the branch to which it is restored.
#[component]
fn RescueRow(project: ProjectId, rescue: Rescue) -> impl IntoView {
    let (client, sending, restored) = (Client::from_context(), Sending::new(), RwSignal::new(None::<String>));
    let until = rescue.ends_at().map(|at| format!("kept until {}", local_time(at)));
    let facts = [Some(size(rescue.bytes)), until, Some(local_time(rescue.committed_at))].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let of = rescue.task_id.as_ref().map_or_else(|| rescue.reference.clone(), ToString::to_string);
    // A name that no other kept work suggests.
    let branch = format!("restored/{}-{}", of.rsplit('/').next().unwrap_or_default().to_lowercase(), short(&rescue.sha));
    let reference = rescue.reference;
    let restore = move |_| {
        let (request, to) = (RestoreRescue { reference: reference.clone(), branch: branch.clone() }, branch.clone());
        sending.run(client.restore_rescue(project.clone(), request), move |_| restored.set(Some(to)));
    };
    let action = move || match restored.get() {
        Some(branch) => view! { <span role="status">"Restored to " <code>{branch}</code></span> }.into_any(),
        None => ().into_any(),
    };
    let button = Reader::may_write().then(|| {
        view! {
            <Show when=move || restored.with(Option::is_none)>
                <button type="button" class="button small" disabled=move || sending.is_busy() on:click=restore.clone()>"Restore to a branch"</button>
            </Show>
        }
    });
    view! {
        <li>
            <span class="spacer">
                <strong>{of}</strong>
                " "
                {rescue.subject}
                <small class="faint">{facts}</small>
            </span>
            {button}
            {action}
        </li>
    }
}
