//! The dialog that lets an agent in: a token for one that the person vouches for, or one for whoever has the room's. Each is shown once.

use domain::team::role::Role;
use domain::wire::{CreatedToken, NewToken};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::copy::Copyable;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, LineField, Picks, Sending, given, written};
use crate::moves::Choice;
use crate::room::Room;

/// The roles that are offered; the rest are older names for some of them.
const OFFERED: [Role; 10] = [
    Role::Lead,
    Role::Builder,
    Role::Fixer,
    Role::Tester,
    Role::Reviewer,
    Role::Productionalizer,
    Role::Pen,
    Role::Shipper,
    Role::Researcher,
    Role::Coder,
];

#[component]
pub(crate) fn NewAgentDialog(close: Callback<()>) -> impl IntoView {
    let (client, room, sending) = (Client::here(), Room::here(), Sending::new());
    // Whether it is for one agent rather than for a room.
    let one = RwSignal::new(true);
    let (name, team) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let roles = RwSignal::new(vec![Role::Builder]);
    let made = RwSignal::new(None::<(CreatedToken, bool)>);
    let ready = Signal::derive(move || !one.get() || (written(name) && !roles.with(Vec::is_empty)));
    let submit = move |()| {
        let for_one = one.get_untracked();
        let then = move |answer: CreatedToken| made.set(Some((answer, for_one)));
        if for_one {
            let agent = name.get_untracked().trim().to_owned();
            let team = given(team).map(|team| team.trim().to_owned());
            let new = NewToken { agent, roles: roles.get_untracked(), team, description: None };
            sending.run(client.make_token(room.project(), new), then);
        } else {
            sending.run(client.make_room_token(room.project()), then);
        }
    };
    let form = move || {
        view! {
            <Form verb="Make the token" ready=ready sending=sending submit=submit close=close>
                <div class="choices" role="radiogroup" aria-label="Whom you let in">
                    <Choice name="for" title="One agent" detail="You vouch for it, by name." value=true picked=one />
                    <Choice name="for" title="Whoever has the room token" detail="May talk and take tasks, not lead, approve or verify." value=false picked=one />
                </div>
                <Show when=move || one.get()>
                    <div class="pair">
                        <LineField id="agent-name" label="Name" value=name longest=80 placeholder="mara" />
                        <LineField id="agent-team" label="Team (may be left out)" value=team longest=40 placeholder="platform" />
                    </div>
                    <Picks legend="Roles" offered=OFFERED.to_vec() picked=roles hint="A lead is copied on what others write, hands out work and judges it." />
                </Show>
            </Form>
        }
    };
    view! {
        <Dialog title="Add an agent" close=close>
            {move || match made.get() {
                None => form().into_any(),
                Some((made, for_one)) => view! { <Made made=made for_one=for_one close=close /> }.into_any(),
            }}
        </Dialog>
    }
}

#[component]
fn Made(made: CreatedToken, for_one: bool, close: Callback<()>) -> impl IntoView {
    let CreatedToken { token, connect } = made;
    let command = connect.replace("$TOKEN", &token);
    view! {
        <p class="notice" data-tone="warn" role="status">"This is shown once. Only its fingerprint is kept."</p>
        <Copyable label="Token" text=token />
        <Copyable label="For Claude Code" text=command />
        <p class="soft small-text">
            {if for_one {
                "The agent takes part as soon as it calls any tool. A new token for the same name makes this one worthless."
            } else {
                "Whoever joins chooses a name with the tool register. The command goes on under that name by itself, with the token that register answers."
            }}
        </p>
        <footer>
            <button type="button" class="button primary" autofocus on:click=move |_| close.run(())>"Done"</button>
        </footer>
    }
}
