//! The page of contracts: declared interfaces, their versions and the diff of each version.

use domain::team::contract::{Contract, ContractType, ContractVersion};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::team::{contract_label, name_label};
use crate::components::diff_view::Hunks;
use crate::components::section_page::SectionPage;
use crate::project_data::{OpenDialog, ProjectData};
use crate::text_diff::diff;
use crate::time::Clock;

#[component]
pub(crate) fn ContractsPage() -> impl IntoView {
    let data = ProjectData::from_context();
    let contracts = data.contracts.watch();
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
                        <h2 id=heading.clone()>{contract_label(*kind)}</h2>
                        // The key keeps the row open when its version changes.
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
            verb="Declare contract"
            opens=OpenDialog::NewContract
            list=contracts
            empty=none
            empty_heading="No contracts yet"
            empty_hint="Declare an interface that others rely on, such as a function, an endpoint or a file. Agents are notified of each change."
        >
            {kinds}
        </SectionPage>
    }
}

#[component]
fn ContractRow(contract: Contract, all: Memo<Vec<Contract>>) -> impl IntoView {
    let clock = Clock::from_context();
    let open = RwSignal::new(false);
    let id = contract.id;
    let current = Memo::new(move |_| {
        let version = |known: &Contract| (known.version, known.updated_at, known.declared_by.clone());
        all.with(|all| all.iter().find(|known| known.id == id).map(version))
    });
    let owner = StoredValue::new(contract.owner);
    view! {
        <details class="attempt" on:toggle:target=move |event| open.set(event.target().open())>
            <summary>
                <strong class="mono">{contract.name}</strong>
                {move || current.get().map(|(version, updated, declared_by)| view! {
                    <span class="soft">{owner.with_value(|owner| authors(owner, &declared_by))}</span>
                    <span class="label-chip">{format!("version {version}")}</span>
                    <span class="faint spacer">{move || clock.ago(updated)}</span>
                })}
            </summary>
            <div class="attempt-body">
                {move || open.get().then(|| view! { <Versions contract=id current=current /> })}
            </div>
        </details>
    }
}

/// The author of the current version, and the first author if it is another.
fn authors(owner: &str, declared_by: &str) -> String {
    let by = format!("by {}", name_label(declared_by));
    if owner == declared_by { by } else { format!("{by}, first by {}", name_label(owner)) }
}

/// The versions of a contract: one selected, with its diff.
#[component]
fn Versions<T: Clone + PartialEq + Send + Sync + 'static>(contract: i64, current: Memo<T>) -> impl IntoView {
    let client = Client::from_context();
    let versions = RwSignal::new(None::<Vec<ContractVersion>>);
    // None selects the newest.
    let selected = RwSignal::new(None::<u32>);
    Effect::new(move || {
        // Read, not only tracked: a memo tracks nothing before its first read.
        current.with(|_| ());
        spawn_local(async move {
            if let Ok(list) = client.versions(contract).await {
                let mut items = list.items;
                items.sort_by_key(|version| version.version);
                let _page_closed = versions.try_set(Some(items));
            }
        });
    });
    let shown = move || {
        let versions = versions.get()?;
        let index = match selected.get() {
            Some(selected) => versions.iter().position(|version| version.version == selected)?,
            None => versions.len().checked_sub(1)?,
        };
        let previous = index.checked_sub(1).map(|previous| versions[previous].clone());
        Some(view! { <Version version=versions[index].clone() previous=previous /> })
    };
    let buttons = move || {
        let versions = versions.get().unwrap_or_default();
        let newest = versions.last().map(|version| version.version);
        let button = |version: &ContractVersion| {
            let number = version.version;
            let pressed = move || (selected.get().or(newest) == Some(number)).to_string();
            let select = move |_| selected.set(Some(number).filter(|_| newest != Some(number)));
            view! { <button type="button" aria-pressed=pressed on:click=select>{format!("v{number}")}</button> }
        };
        (versions.len() > 1)
            .then(|| view! { <div class="segment" role="group" aria-label="Version">{versions.iter().map(button).collect_view()}</div> })
    };
    view! {
        {move || versions.with(Option::is_none).then(|| view! { <p class="soft" role="status">"Loading…"</p> })}
        <div class="row">{buttons}</div>
        {shown}
    }
}

#[component]
fn Version(version: ContractVersion, #[prop(optional_no_strip)] previous: Option<ContractVersion>) -> impl IntoView {
    let clock = Clock::from_context();
    let at = version.created_at;
    let by = format!("Version {} by {}", version.version, name_label(&version.declared_by));
    let change = previous.map(|previous| {
        let hunks = diff(&previous.spec, &version.spec);
        let label = format!("Changes since version {}", previous.version);
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
    fn authors_name_the_current_and_the_first() {
        assert_eq!((authors("gus", "gus"), authors("gus", "bob")), ("by gus".to_owned(), "by bob, first by gus".to_owned()));
    }
}
