//! The dialog that declares a contract or its next version.

use domain::team::contract::{ContractType, NewContract};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::team::{contract_label, name_label};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, TextField, has_text};
use crate::project_data::ProjectData;

#[component]
pub(crate) fn NewContractDialog(close: Callback<()>) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let (name, spec) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let kind = RwSignal::new(ContractType::Function);
    // An existing contract gets a new version.
    let existing = Memo::new(move |_| {
        let name = name.get();
        data.contracts.value.with(|all| {
            let same = all.as_ref()?.iter().find(|contract| contract.name == name.trim() && contract.kind == kind.get())?;
            Some((same.version, same.declared_by.clone()))
        })
    });
    let submit = move |()| {
        let new = NewContract { name: name.get_untracked().trim().to_owned(), kind: kind.get_untracked(), spec: spec.get_untracked() };
        sending.run(client.declare(data.project(), new), move |_| close.run(()));
    };
    let kinds = ContractType::ALL.iter().map(|kind| view! { <option value=kind.as_str()>{contract_label(*kind)}</option> }).collect_view();
    view! {
        <Dialog title="Declare contract" close=close>
            <Form verb="Declare" ready=Signal::derive(move || has_text(name) && has_text(spec)) sending=sending submit=submit close=close>
                <div class="field-row">
                    <TextField id="contract-name" label="Name" value=name max_length=200 placeholder="parse_line" mono=true autofocus=true />
                    <div class="field">
                        <label for="contract-kind">"Type"</label>
                        <select id="contract-kind" class="input" on:change:target=move |event| {
                            if let Ok(chosen) = event.target().value().parse() {
                                kind.set(chosen);
                            }
                        }>
                            {kinds}
                        </select>
                    </div>
                </div>
                <TextArea id="contract-spec" label="Specification" value=spec mono=true />
                <div role="status">
                    {move || existing.get().map(|(version, by)| view! {
                        <p class="hint" data-tone="warn">{format!("Already declared by {}. This becomes version {}.", name_label(&by), version + 1)}</p>
                    })}
                </div>
            </Form>
        </Dialog>
    }
}
