//! The dialog by which the person declares a contract, or the next version of one.

use domain::contract::{ContractType, NewContract};
use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::Client;
use crate::components::badge::among::contract_word;
use crate::components::dialog::Dialog;
use crate::room::Room;

#[component]
pub(crate) fn NewContractDialog(close: Callback<()>) -> impl IntoView {
    let (client, room) = (Client::here(), Room::here());
    let (name, spec) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let kind = RwSignal::new(ContractType::Function);
    let sending = RwSignal::new(false);
    let written = |text: RwSignal<String>| text.with(|text| !text.trim().is_empty());
    let ready = move || !sending.get() && written(name) && written(spec);
    // What is declared under this name already becomes the next version.
    let known = Memo::new(move |_| {
        let name = name.get();
        room.contracts.value.with(|all| {
            let same = all.as_ref()?.iter().find(|contract| contract.name == name.trim() && contract.kind == kind.get())?;
            Some((same.version, same.owner.clone()))
        })
    });
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if !ready() {
            return;
        }
        sending.set(true);
        let new = NewContract { name: name.get_untracked().trim().to_owned(), kind: kind.get_untracked(), spec: spec.get_untracked() };
        client.watch(client.declare(room.project(), new), move |result| {
            let _closed_meanwhile = sending.try_set(false);
            if result.is_ok() {
                close.run(());
            }
        });
    };
    let kinds = ContractType::ALL.iter().map(|kind| view! { <option value=kind.as_str()>{contract_word(*kind)}</option> }).collect_view();
    view! {
        <Dialog title="Declare a contract" close=close>
            <form on:submit=submit autocomplete="off">
                <div class="pair">
                    <div class="field">
                        <label for="contract-name">"Name"</label>
                        <input id="contract-name" class="input mono" autofocus maxlength="200" placeholder="parse_line" bind:value=name />
                    </div>
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
                <div class="field">
                    <label for="contract-spec">"What it promises"</label>
                    <textarea
                        id="contract-spec"
                        class="input mono"
                        prop:value=spec
                        on:input:target=move |event| spec.set(event.target().value())
                    ></textarea>
                    {move || known.get().map(|(version, owner)| view! {
                        <p class="hint" data-tone="warn">{format!("{owner} declared it; this becomes version {}.", version + 1)}</p>
                    })}
                </div>
                <footer>
                    <button type="button" class="button" on:click=move |_| close.run(())>"Cancel"</button>
                    <button type="submit" class="button primary" disabled=move || !ready()>"Declare"</button>
                </footer>
            </form>
        </Dialog>
    }
}
