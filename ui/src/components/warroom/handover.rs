//! The handovers of a project: what agents left to their successors, and whether someone continued.

use domain::warroom::handover::Handover;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::team::name_heading;
use crate::components::badge::warroom::handover_badge;
use crate::components::board::task_link::TaskLink;
use crate::components::prose::LongProse;
use crate::components::section_box::SectionBox;
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::paged_list::{PagedList, ShowOlder};
use crate::project_data::ProjectData;
use crate::store::Store;
use crate::time::local_time;

#[component]
pub(crate) fn HandoverSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let handovers = PagedList::watch(store.revision_of(ListKind::Handovers), move |before| client.handovers(data.project(), before));
    view! {
        <SectionBox
            id="war-room-handovers"
            title=name_of(Word::Handovers)
            summary=String::new()
            loaded=Signal::derive(move || handovers.is_loaded())
            failure=handovers.list.failure
            empty=Signal::derive(move || handovers.is_empty())
            empty_heading="Nothing handed over yet"
            empty_hint="An agent whose context is nearly full, or that leaves, writes down here what its successor needs."
        >
            <ol class="room-list">
                <For each=move || handovers.items() key=|handover| (handover.id, handover.continued_at) let:handover>
                    <HandoverRow handover=handover />
                </For>
            </ol>
            <ShowOlder label="Show older" has_older=Signal::derive(move || handovers.has_older()) show_older=move |()| handovers.show_older() />
        </SectionBox>
    }
    .into_any()
}

#[component]
fn HandoverRow(handover: Handover) -> impl IntoView {
    let (label, tone) = handover_badge(&handover);
    let at = handover.created_at;
    let files = files(&handover);
    view! {
        <li class="log-entry">
            <p class="row small-text">
                <strong class="name">{name_heading(&handover.agent)}</strong>
                {handover.task_id.map(|task| view! { <TaskLink task=task /> })}
                <Badge label=label tone=tone />
                <time class="faint tabular spacer" datetime=at.to_string() title=at.to_string()>{local_time(at)}</time>
            </p>
            <LongProse text=handover.manifest />
            {files.map(|files| view! { <p class="soft small-text" dir="auto">{files}</p> })}
        </li>
    }
    .into_any()
}

/// The files that the successor reads first.
fn files(handover: &Handover) -> Option<String> {
    let paths: Vec<&str> = handover.files.iter().map(|file| file.path.as_str()).collect();
    if paths.is_empty() { None } else { Some(format!("Files to read first: {}", paths.join(", "))) }
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;
    use domain::warroom::handover::HandoverFile;

    use super::*;

    #[test]
    fn handover_names_its_files_and_whether_it_was_read() {
        let file = |path: &str| HandoverFile { path: path.to_owned(), bytes: 1 };
        let mut handover = Handover {
            id: 1,
            project_id: ProjectId::new(1),
            agent: "mara".to_owned(),
            task_id: None,
            run_id: None,
            automatic: false,
            manifest: String::new(),
            files: vec![file("a.md"), file("b.md")],
            created_at: Timestamp::from_milliseconds(0),
            continued_by: None,
            continued_at: None,
        };
        assert_eq!(files(&handover).as_deref(), Some("Files to read first: a.md, b.md"));
        assert_eq!(handover_badge(&handover).0, "Waits for a successor");
        handover.files.clear();
        handover.continued_at = Some(Timestamp::from_milliseconds(1));
        assert_eq!((files(&handover), handover_badge(&handover).0), (None, "Continued"));
        handover.automatic = true;
        assert_eq!(handover_badge(&handover).0, "Recorded by the runner");
    }
}
