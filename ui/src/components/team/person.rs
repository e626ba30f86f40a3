//! The list of the persons of the board. The owner adds persons here, changes their roles, gives them access and removes them.
//!
//! Must not know what a role may do.

use domain::team::person::{Person, PersonRole, Right, participant};
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlSelectElement;

use crate::client::Client;
use crate::components::badge::{Badge, Tone};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::icon::{Icon, PLUS};
use crate::components::team::new_person::{NewLinkDialog, NewPersonDialog};
use crate::reader::Reader;

/// The dialog that is open above the page.
#[derive(Debug, Clone, PartialEq)]
enum PersonDialog {
    None,
    Add,
    NewLink(Person),
    Remove(Person),
}

#[component]
pub(crate) fn Persons(
    /// Notified when persons or sessions change.
    changed: Trigger,
) -> impl IntoView {
    let client = Client::from_context();
    let persons = RwSignal::new(Vec::<Person>::new());
    let dialog = RwSignal::new(PersonDialog::None);
    let close = Callback::new(move |()| dialog.set(PersonDialog::None));
    Effect::new(move || {
        changed.track();
        spawn_local(async move {
            if let Ok(list) = client.persons().await {
                let _page_closed = persons.try_set(list.items);
            }
        });
    });
    let manages = Reader::current().may(Right::Administer);
    let hint =
        if manages { "Members can work on the board as you do. Viewers can only read." } else { "The owner adds people and changes their roles." };
    let dialogs = move || match dialog.get() {
        PersonDialog::None => ().into_any(),
        PersonDialog::Add => view! { <NewPersonDialog changed=changed close=close /> }.into_any(),
        PersonDialog::NewLink(person) => view! { <NewLinkDialog person=person changed=changed close=close /> }.into_any(),
        PersonDialog::Remove(person) => view! { <RemoveDialog person=person changed=changed close=close /> }.into_any(),
    };
    view! {
        <section class="section" aria-label="People">
            <div class="page-head">
                <h2>"People"</h2>
                {manages.then(|| view! {
                    <button type="button" class="button small" on:click=move |_| dialog.set(PersonDialog::Add)>
                        <Icon drawing=PLUS />
                        "Add a person"
                    </button>
                })}
            </div>
            <ul class="rows">
                <For each=move || persons.get() key=|person| person.id let:person>
                    <PersonRow person=person persons=persons manages=manages changed=changed dialog=dialog />
                </For>
            </ul>
            <p class="faint small-text">{hint}</p>
        </section>
        {dialogs}
    }
}

#[component]
fn PersonRow(
    person: Person,
    /// All persons, as they were read last.
    persons: RwSignal<Vec<Person>>,
    /// Whether the reader manages persons.
    manages: bool,
    changed: Trigger,
    dialog: RwSignal<PersonDialog>,
) -> impl IntoView {
    let (id, first) = (person.id, person.role);
    let role = Signal::derive(move || persons.with(|all| all.iter().find(|known| known.id == id).map_or(first, |known| known.role)));
    let is_reader = Reader::current().is(&participant(person.role, &person.name));
    let tools = (manages && person.role != PersonRole::Owner).then(|| {
        let (linked, removed) = (person.clone(), person.clone());
        view! {
            <RoleChoice id=person.id name=person.name.clone() role=role changed=changed />
            <div class="entry-tools">
                <button type="button" class="button quiet small" aria-label=format!("New sign-in link for {}", person.name) on:click=move |_| dialog.set(PersonDialog::NewLink(linked.clone()))>
                    "New link"
                </button>
                <button type="button" class="button quiet small" aria-label=format!("Remove {}", person.name) on:click=move |_| dialog.set(PersonDialog::Remove(removed.clone()))>
                    "Remove"
                </button>
            </div>
        }
    });
    let badge = tools.is_none().then_some(move || view! { <Badge label=role.get().as_str() tone=Tone::Neutral /> });
    view! {
        <li class="entry">
            <div class="entry-main">
                <p class="row">
                    <strong class="name">{person.name}</strong>
                    {is_reader.then(|| view! { <span class="faint small-text">"you"</span> })}
                    {badge}
                </p>
            </div>
            {tools}
        </li>
    }
}

/// A choice of the role, which applies at once.
#[component]
fn RoleChoice(id: i64, name: String, role: Signal<PersonRole>, changed: Trigger) -> impl IntoView {
    let client = Client::from_context();
    let is_busy = RwSignal::new(false);
    let choose = move |select: HtmlSelectElement| {
        // Two requests could arrive in the other order.
        if is_busy.get_untracked() {
            select.set_value(role.get_untracked().as_str());
            return;
        }
        let Ok(chosen) = select.value().parse::<PersonRole>() else { return };
        is_busy.set(true);
        client.watch(client.change_person_role(id, chosen), move |result| {
            let _page_closed = is_busy.try_set(false);
            match result {
                Ok(_) => changed.notify(),
                // Restore the current role.
                Err(_) => select.set_value(role.get_untracked().as_str()),
            }
        });
    };
    let options = PersonRole::ALL.iter().filter(|offered| **offered != PersonRole::Owner);
    let options = options
        .map(|offered| view! { <option value=offered.as_str() selected=*offered == role.get_untracked()>{offered.as_str()}</option> })
        .collect_view();
    view! {
        <select
            class="input narrow"
            aria-label=format!("Role of {name}")
            prop:value=move || role.get().as_str()
            aria-busy=move || is_busy.get().to_string()
            on:change:target=move |event| choose(event.target())
        >
            {options}
        </select>
    }
}

#[component]
fn RemoveDialog(person: Person, changed: Trigger, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let id = person.id;
    let submit = move |()| {
        sending.run(client.remove_person(id), move |_| {
            changed.notify();
            close.run(());
        });
    };
    view! {
        <Dialog title=format!("Remove {}", person.name) close=close>
            <Form verb="Remove" danger=true sending=sending submit=submit close=close>
                <p>"Their browsers are signed out and their token is revoked. The history keeps their name, and you can add them again."</p>
            </Form>
        </Dialog>
    }
}
