//! One piece of knowledge: its text, its evidence and files, and how it ended.

use domain::warroom::knowledge::{Knowledge, KnowledgeKind};
use leptos::prelude::*;

use super::Open;
use crate::components::badge::Badge;
use crate::components::badge::team::{name_heading, name_label};
use crate::components::badge::warroom::{closing_label, knowledge_label};
use crate::components::prose::LongProse;
use crate::components::warroom::lines_field::shown_path;
use crate::reader::Reader;
use crate::time::local_time;

#[component]
pub(super) fn ItemRow(item: Knowledge, open: RwSignal<Option<Open>>) -> impl IntoView {
    let (_, badge, tone) = knowledge_label(item.kind);
    let (by, at) = (byline(&item), item.updated_at);
    let actions = (Reader::may_write() && item.closed_at.is_none() && item.kind != KnowledgeKind::Note)
        .then(|| view! { <Actions item=item.clone() open=open /> });
    let closing = closed_by(&item).zip(item.closed_at).zip(item.closing);
    view! {
        <li class="knowledge">
            <p class="row small-text">
                <strong class="name">{item.topic}</strong>
                <Badge label=badge tone=tone />
                <span class="soft">{by}</span>
                <time class="faint tabular spacer" datetime=at.to_string() title=at.to_string()>{local_time(at)}</time>
            </p>
            <LongProse text=item.body />
            {(!item.paths.is_empty()).then(|| view! {
                <ul class="room-paths mono" aria-label="Files">{item.paths.iter().map(|path| view! { <li>{shown_path(path)}</li> }).collect_view()}</ul>
            })}
            {item.evidence.map(|evidence| view! {
                <details class="fold">
                    <summary>"Evidence"</summary>
                    <p class="evidence mono" dir="auto">{evidence}</p>
                </details>
            })}
            {closing.map(|((heading, at), why)| view! {
                <div class="closing">
                    <p class="small-text soft">{heading} ", " <time datetime=at.to_string() title=at.to_string()>{local_time(at)}</time></p>
                    <p class="evidence small-text" dir="auto">{why}</p>
                </div>
            })}
            {actions}
        </li>
    }
    .into_any()
}

#[component]
fn Actions(item: Knowledge, open: RwSignal<Option<Open>>) -> impl IntoView {
    let verb = closing_label(item.kind).verb;
    let (edit_label, close_label) = (format!("Edit {}", item.topic), format!("{verb} {}", item.topic));
    let item = StoredValue::new(item);
    view! {
        <p class="row actions">
            <button type="button" class="button quiet small" aria-label=edit_label on:click=move |_| open.set(Some(Open::Edit(item.get_value())))>
                "Edit…"
            </button>
            <button type="button" class="button quiet small" aria-label=close_label on:click=move |_| open.set(Some(Open::Close(item.get_value())))>
                {format!("{verb}…")}
            </button>
        </p>
    }
    .into_any()
}

/// The author of the text, and its version after the first.
fn byline(item: &Knowledge) -> String {
    let by = format!("by {}", name_label(&item.author));
    if item.version > 1 { format!("{by}, version {}", item.version) } else { by }
}

/// The person or agent that closed the item.
fn closed_by(item: &Knowledge) -> Option<String> {
    Some(format!("{} {} it", name_heading(item.closed_by.as_ref()?), closing_label(item.kind).done))
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn item_names_its_author_its_version_and_its_end() {
        let at = Timestamp::from_milliseconds(0);
        let mut item = Knowledge {
            id: 1,
            project_id: ProjectId::new(1),
            kind: KnowledgeKind::Trap,
            topic: "lock".to_owned(),
            body: "It deadlocks.".to_owned(),
            evidence: None,
            paths: Vec::new(),
            author: "human".to_owned(),
            run_id: None,
            version: 1,
            created_at: at,
            updated_at: at,
            closed_at: None,
            closed_by: None,
            closing: None,
        };
        assert_eq!((byline(&item), closed_by(&item)), ("by you".to_owned(), None));
        item.version = 2;
        item.author = "mara".to_owned();
        assert_eq!(byline(&item), "by mara, version 2");
        item.closed_by = Some("human".to_owned());
        assert_eq!(closed_by(&item).as_deref(), Some("You resolved it"));
    }
}
