//! The dialog that writes intel or a trap, or its next version.

use domain::warroom::knowledge::{Knowledge, KnowledgeKind, NewKnowledge};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::warroom::{knowledge_label, knowledge_meaning};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, TextField, has_text};
use crate::components::warroom::lines_field::{LinesField, lines, shown_path};
use crate::draft::{discard, draft_from};
use crate::moves::Choice;
use crate::project_data::ProjectData;

/// The forms of evidence, below its field.
pub(super) const EVIDENCE_HINT: &str = "A line of a file (src/lib.rs:12), or a command after $ with its output on the lines below it.";

#[component]
pub(super) fn WriteDialog(#[prop(optional)] before: Option<Knowledge>, close: Callback<()>) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let title = before.as_ref().map_or_else(|| "Write down".to_owned(), |item| format!("Edit {}", item.topic));
    let is_new = before.is_none();
    let draft_key = before.as_ref().map_or_else(|| format!("knowledge/{}", data.project()), |item| format!("knowledge-edit/{}", item.id));
    let kind = RwSignal::new(before.as_ref().map_or(KnowledgeKind::Trap, |item| item.kind));
    let (topic, body, evidence, paths) = before
        .map(|item| {
            (item.topic, item.body, item.evidence.unwrap_or_default(), item.paths.iter().map(|path| shown_path(path)).collect::<Vec<_>>().join("\n"))
        })
        .unwrap_or_default();
    let body = draft_from(&draft_key, body);
    let (topic, evidence, paths) = (RwSignal::new(topic), RwSignal::new(evidence), RwSignal::new(paths));
    let is_trap = Memo::new(move |_| kind.get() == KnowledgeKind::Trap);
    let ready = Signal::derive(move || has_text(topic) && has_text(body) && has_text(evidence));
    let draft_key = StoredValue::new(draft_key);
    let submit = move |()| {
        let new = NewKnowledge {
            kind: kind.get_untracked(),
            topic: topic.get_untracked(),
            body: body.get_untracked(),
            evidence: evidence.get_untracked(),
            paths: if is_trap.get_untracked() { lines(&paths.get_untracked()) } else { Vec::new() },
        };
        sending.run(client.write_knowledge(data.project(), new), move |_| {
            discard(&draft_key.get_value());
            close.run(());
        });
    };
    let choices = [KnowledgeKind::Trap, KnowledgeKind::Intel].map(|offered| {
        let ((_, title, _), detail) = (knowledge_label(offered), knowledge_meaning(offered));
        view! { <Choice name="knowledge-kind" title=title detail=detail value=offered picked=kind /> }
    });
    let choices = is_new.then(|| {
        view! {
            <div class="choices" role="radiogroup" aria-label="Kind">{choices}</div>
            <TextField id="knowledge-topic" label="Topic, a word such as build-cache" value=topic max_length=60 placeholder="build-cache" mono=true />
        }
    });
    view! {
        <Dialog title=title close=close>
            <Form verb="Write it down" ready=ready sending=sending submit=submit close=close>
                {choices}
                <TextArea id="knowledge-body" label="What others need to know" value=body autofocus=!is_new />
                <LinesField id="knowledge-evidence" label="Evidence" hint=EVIDENCE_HINT value=evidence />
                <Show when=move || is_trap.get()>
                    <LinesField
                        id="knowledge-paths"
                        label="Files it concerns (optional), one per line"
                        hint="Coders read it before they edit these files. Without files, all coders read it."
                        value=paths
                    />
                </Show>
            </Form>
        </Dialog>
    }
    .into_any()
}
