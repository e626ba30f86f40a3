//! The dialogs that give a person access: a new person, or a new link for one. Each link is shown once.

use domain::team::person::{NewPerson, Person, PersonRole};
use domain::wire::CreatedPersonToken;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::copy_button::CopyField;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text};
use crate::moves::Choice;

/// The longest name of a person in the form, in UTF-16 units.
const MAX_NAME: u32 = 74;

#[component]
pub(crate) fn NewPersonDialog(changed: Trigger, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let (name, role) = (RwSignal::new(String::new()), RwSignal::new(PersonRole::Member));
    let added = RwSignal::new(None::<Person>);
    let created = RwSignal::new(None::<(String, CreatedPersonToken)>);
    let submit = move |()| {
        let new = NewPerson { name: name.get_untracked().trim().to_owned(), role: Some(role.get_untracked()) };
        // A person whose link failed is not added again.
        let known = added.get_untracked().filter(|known| known.name == new.name && known.role == role.get_untracked());
        let request = async move {
            let person = match known {
                Some(known) => known,
                None => client.add_person(new).await?,
            };
            let _dialog_closed = added.try_set(Some(person.clone()));
            changed.notify();
            Ok((person.name, client.create_person_token(person.id).await?))
        };
        sending.run(request, move |answer| created.set(Some(answer)));
    };
    let form = move || {
        view! {
            <Form verb="Add" ready=Signal::derive(move || has_text(name)) sending=sending submit=submit close=close>
                <TextField id="person-name" label="Name" value=name max_length=MAX_NAME placeholder="ann" autofocus=true />
                <div class="choices" role="radiogroup" aria-label="Role">
                    <Choice name="role" title="Member" detail="Can do everything you can, except manage people, tokens and other people's browsers." value=PersonRole::Member picked=role />
                    <Choice name="role" title="Viewer" detail="Reads everything and changes nothing." value=PersonRole::Viewer picked=role />
                </div>
            </Form>
        }
    };
    view! {
        <Dialog title="Add a person" close=close>
            {move || match created.get() {
                None => form().into_any(),
                Some((name, created)) => view! { <LinkCreated name=name created=created close=close /> }.into_any(),
            }}
        </Dialog>
    }
}

/// Creates another link for a person, after a confirmation.
#[component]
pub(crate) fn NewLinkDialog(person: Person, changed: Trigger, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let created = RwSignal::new(None::<CreatedPersonToken>);
    let (id, name) = (person.id, StoredValue::new(person.name.clone()));
    let submit = move |()| {
        sending.run(client.create_person_token(id), move |answer| {
            changed.notify();
            created.set(Some(answer));
        });
    };
    view! {
        <Dialog title=format!("New sign-in link for {}", person.name) close=close>
            {move || match created.get() {
                None => view! {
                    <Form verb="Create link" sending=sending submit=submit close=close>
                        <p>"Their earlier link and token are revoked, and their browsers are signed out."</p>
                    </Form>
                }
                .into_any(),
                Some(created) => view! { <LinkCreated name=name.get_value() created=created close=close /> }.into_any(),
            }}
        </Dialog>
    }
}

#[component]
fn LinkCreated(name: String, created: CreatedPersonToken, close: Callback<()>) -> impl IntoView {
    view! {
        <p class="notice" data-tone="warn" role="status">"Copy it now: it is shown only once."</p>
        <CopyField label="Sign-in link" text=created.sign_in_link />
        <CopyField label="Token for programs" text=created.token />
        <p class="soft small-text">{format!("{name} can use this link once, to sign in one browser. Give it only to {name}.")}</p>
        <footer>
            <button type="button" class="button primary" autofocus on:click=move |_| close.run(())>"Done"</button>
        </footer>
    }
}
