//! The dialog by which the person declares a contract, or the next version of one.

use domain::team::contract::{ContractType, NewContract};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::among::{contract_word, name_word};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, LineField, Sending, WordsField, written};
use crate::room::Room;

#[component]
pub(crate) fn NewContractDialog(close: Callback<()>) -> impl IntoView {
    let (client, room, sending) = (Client::here(), Room::here(), Sending::new());
    let (name, spec) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let kind = RwSignal::new(ContractType::Function);
    // What is declared under this name already becomes the next version.
    let known = Memo::new(move |_| {
        let name = name.get();
        room.contracts.value.with(|all| {
            let same = all.as_ref()?.iter().find(|contract| contract.name == name.trim() && contract.kind == kind.get())?;
            Some((same.version, same.declared_by.clone()))
        })
    });
    let submit = move |()| {
        let new = NewContract { name: name.get_untracked().trim().to_owned(), kind: kind.get_untracked(), spec: spec.get_untracked() };
        sending.run(client.declare(room.project(), new), move |_| close.run(()));
    };
    let kinds = ContractType::ALL.iter().map(|kind| view! { <option value=kind.as_str()>{contract_word(*kind)}</option> }).collect_view();
    view! {
        <Dialog title="Declare a contract" close=close>
            <Form verb="Declare" ready=Signal::derive(move || written(name) && written(spec)) sending=sending submit=submit close=close>
                <div class="pair">
                    <LineField id="contract-name" label="Name" value=name longest=200 placeholder="parse_line" mono=true autofocus=true />
                    <div class="field">
                        <label for="contract-kind">"Kind"</label>
                        <select id="contract-kind" class="input" on:change:target=move |event| {
                            if let Ok(chosen) = event.target().value().parse() {
                                kind.set(chosen);
                            }
                        }>
                            {kinds}
                        </select>
                    </div>
                </div>
                <WordsField id="contract-spec" label="What it promises" value=spec mono=true />
                <div role="status">
                    {move || known.get().map(|(version, by)| view! {
                        <p class="hint" data-tone="warn">{format!("Declared by {}: this becomes version {}.", name_word(&by), version + 1)}</p>
                    })}
                </div>
            </Form>
        </Dialog>
    }
}
