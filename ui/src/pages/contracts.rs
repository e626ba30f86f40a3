//! Contracts: what modules promise each other, and what changed from one version to the next.

use domain::team::contract::{Contract, ContractType, ContractVersion};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::among::{contract_word, name_word};
use crate::components::diff_view::Hunks;
use crate::components::section_page::SectionPage;
use crate::lines::between;
use crate::room::{Open, Room};
use crate::time::Clock;

#[component]
pub(crate) fn ContractsPage() -> impl IntoView {
    let room = Room::here();
    let contracts = room.contracts.watch();
    let of_kind = move |kind: ContractType| {
        Memo::new(move |_| {
            let all = contracts.value.get().unwrap_or_default();
            all.into_iter().filter(|contract| contract.kind == kind).collect::<Vec<_>>()
        })
    };
    let none = Memo::new(move |_| contracts.value.with(|all| all.as_ref().is_some_and(Vec::is_empty)));
    let kinds = ContractType::ALL
        .iter()
        .map(|kind| {
            let own = of_kind(*kind);
            let heading = format!("contracts-{kind}");
            view! {
                <Show when=move || !own.with(Vec::is_empty)>
                    <section class="section" aria-labelledby=heading.clone()>
                        <h2 id=heading.clone()>{contract_word(*kind)}</h2>
                        // Kept open while its version changes.
                        <For each=move || own.get() key=|contract| contract.id let:contract>
                            <ContractRow contract=contract all=own />
                        </For>
                    </section>
                </Show>
            }
        })
        .collect_view();
    view! {
        <SectionPage
            title="Contracts"
            verb="Declare a contract"
            opens=Open::NewContract
            feed=contracts
            empty=none
            heading="No contract yet"
            words="Agents that work side by side declare here what others may rely on: a function, an endpoint, a file. Everybody is told when it changes."
        >
            {kinds}
        </SectionPage>
    }
}

#[component]
fn ContractRow(contract: Contract, all: Memo<Vec<Contract>>) -> impl IntoView {
    let clock = Clock::here();
    let open = RwSignal::new(false);
    let id = contract.id;
    let now = Memo::new(move |_| {
        let in_force = |known: &Contract| (known.version, known.updated_at, known.declared_by.clone());
        all.with(|all| all.iter().find(|known| known.id == id).map(in_force))
    });
    let owner = StoredValue::new(contract.owner);
    view! {
        <details class="attempt" on:toggle:target=move |event| open.set(event.target().open())>
            <summary>
                <strong class="mono">{contract.name}</strong>
                {move || now.get().map(|(version, updated, declared_by)| view! {
                    <span class="soft">{owner.with_value(|owner| whose(owner, &declared_by))}</span>
                    <span class="chip">{format!("version {version}")}</span>
                    <span class="faint push">{move || clock.ago(updated)}</span>
                })}
            </summary>
            <div class="attempt-body">
                {move || open.get().then(|| view! { <Versions contract=id now=now /> })}
            </div>
        </details>
    }
}

/// Whose words are in force, and who promised something under the name first.
fn whose(owner: &str, declared_by: &str) -> String {
    let by = format!("by {}", name_word(declared_by));
    if owner == declared_by { by } else { format!("{by}, first by {}", name_word(owner)) }
}

/// The versions of a contract, one chosen, with what it changed.
#[component]
fn Versions<T: Clone + PartialEq + Send + Sync + 'static>(contract: i64, now: Memo<T>) -> impl IntoView {
    let client = Client::here();
    let versions = RwSignal::new(None::<Vec<ContractVersion>>);
    // None: the newest.
    let chosen = RwSignal::new(None::<u32>);
    Effect::new(move || {
        // Read and not only tracked: a memo follows nothing before it was read.
        now.with(|_| ());
        spawn_local(async move {
            if let Ok(list) = client.versions(contract).await {
                let mut items = list.items;
                items.sort_by_key(|version| version.version);
                let _closed_meanwhile = versions.try_set(Some(items));
            }
        });
    });
    let shown = move || {
        let versions = versions.get()?;
        let place = match chosen.get() {
            Some(chosen) => versions.iter().position(|version| version.version == chosen)?,
            None => versions.len().checked_sub(1)?,
        };
        let before = place.checked_sub(1).map(|before| versions[before].clone());
        Some(view! { <Version version=versions[place].clone() before=before /> })
    };
    let picks = move || {
        let versions = versions.get().unwrap_or_default();
        let newest = versions.last().map(|version| version.version);
        let pick = |version: &ContractVersion| {
            let number = version.version;
            let pressed = move || (chosen.get().or(newest) == Some(number)).to_string();
            let choose = move |_| chosen.set(Some(number).filter(|_| newest != Some(number)));
            view! { <button type="button" aria-pressed=pressed on:click=choose>{format!("v{number}")}</button> }
        };
        (versions.len() > 1)
            .then(|| view! { <div class="segment" role="group" aria-label="Version">{versions.iter().map(pick).collect_view()}</div> })
    };
    view! {
        {move || versions.with(Option::is_none).then(|| view! { <p class="soft" role="status">"Reading…"</p> })}
        <div class="row">{picks}</div>
        {shown}
    }
}

#[component]
fn Version(version: ContractVersion, #[prop(optional_no_strip)] before: Option<ContractVersion>) -> impl IntoView {
    let clock = Clock::here();
    let at = version.created_at;
    let by = format!("Version {} by {}", version.version, name_word(&version.declared_by));
    let change = before.map(|before| {
        let hunks = between(&before.spec, &version.spec);
        let label = format!("What changed since version {}", before.version);
        view! {
            <h3>{label.clone()}</h3>
            <div class="diff-file"><Hunks hunks=hunks label=label /></div>
        }
    });
    view! {
        <p class="small-text soft">
            {by}
            ", "
            <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
        </p>
        <pre class="spec" tabindex="0">{version.spec}</pre>
        {change}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_under_the_name_of_who_said_them() {
        assert_eq!((whose("gus", "gus"), whose("gus", "bob")), ("by gus".to_owned(), "by bob, first by gus".to_owned()));
    }
}
