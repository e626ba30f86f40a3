//! The dialog that archives intel or resolves a trap.

use domain::warroom::knowledge::{Knowledge, KnowledgeKind, NewClosing};
use leptos::prelude::*;

use super::write::EVIDENCE_HINT;
use crate::client::Client;
use crate::components::badge::warroom::closing_label;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, has_text};
use crate::components::text_dialog::Request;
use crate::components::warroom::lines_field::LinesField;
use crate::draft::{discard, draft};

#[component]
pub(super) fn CloseDialog(item: Knowledge, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let Knowledge { id, kind, topic, .. } = item;
    let label = closing_label(kind);
    let draft_key = format!("knowledge-closing/{id}");
    let (reason, evidence) = (draft(&draft_key), RwSignal::new(String::new()));
    let draft_key = StoredValue::new(draft_key);
    let submit = move |()| {
        let closing = NewClosing { reason: reason.get_untracked(), evidence: evidence.get_untracked() };
        let request: Request = match kind {
            KnowledgeKind::Trap => Box::pin(client.resolve_trap(id, closing)),
            KnowledgeKind::Intel | KnowledgeKind::Note => Box::pin(client.archive_intel(id, closing)),
        };
        sending.run(request, move |_| {
            discard(&draft_key.get_value());
            close.run(());
        });
    };
    view! {
        <Dialog title=format!("{} {topic}", label.verb) close=close>
            <Form verb=label.verb ready=Signal::derive(move || has_text(reason) && has_text(evidence)) sending=sending submit=submit close=close>
                <p class="soft">{label.explanation}</p>
                <TextArea id="closing-reason" label=label.question value=reason autofocus=true />
                <LinesField id="closing-evidence" label="Evidence" hint=EVIDENCE_HINT value=evidence />
            </Form>
        </Dialog>
    }
    .into_any()
}
