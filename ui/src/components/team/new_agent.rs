//! The dialog that creates an agent token or an invite token. Each token is shown once.

use domain::team::role::Role;
use domain::team::token::{Permissions, TokenReach};
use domain::wire::{CreatedToken, NewToken};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::copy_button::CopyField;
use crate::components::dialog::Dialog;
use crate::components::form::{CheckboxGroup, Form, Sending, TextField, has_text, non_empty};
use crate::components::team::token::TokenTermsFields;
use crate::moves::Choice;
use crate::project_data::ProjectData;

/// The roles on offer. The other roles are older names for some of these.
const OFFERED_ROLES: [Role; 10] = [
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
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    // Whether the token is for one named agent rather than an invite token.
    let for_one = RwSignal::new(true);
    let (name, team) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let roles = RwSignal::new(vec![Role::Builder]);
    let (permissions, expires_in) = (RwSignal::new(Permissions::default()), RwSignal::new(None));
    let everywhere = RwSignal::new(false);
    let leads = Memo::new(move |_| roles.with(|roles| roles.contains(&Role::Lead)));
    let created = RwSignal::new(None::<(CreatedToken, bool)>);
    let ready = Signal::derive(move || !for_one.get() || (has_text(name) && !roles.with(Vec::is_empty)));
    let submit = move |()| {
        let is_for_one = for_one.get_untracked();
        let then = move |answer: CreatedToken| created.set(Some((answer, is_for_one)));
        if is_for_one {
            let agent = name.get_untracked().trim().to_owned();
            let team = non_empty(team).map(|team| team.trim().to_owned());
            let (permissions, expires_in) = (Some(permissions.get_untracked()), expires_in.get_untracked());
            let reach = (leads.get_untracked() && everywhere.get_untracked()).then_some(TokenReach::All);
            let new = NewToken { agent, roles: roles.get_untracked(), team, description: None, permissions, reach, expires_in };
            sending.run(client.create_token(data.project(), new), then);
        } else {
            sending.run(client.create_invite_token(data.project()), then);
        }
    };
    let form = move || {
        view! {
            <Form verb="Create token" ready=ready sending=sending submit=submit close=close>
                <div class="choices" role="radiogroup" aria-label="Kind of token">
                    <Choice name="for" title="One agent" detail="Trusted, with a name and roles of your choice." value=true picked=for_one />
                    <Choice name="for" title="Anyone with the invite token" detail="Can send messages and take tasks, but not lead, approve or verify." value=false picked=for_one />
                </div>
                <Show when=move || for_one.get()>
                    <div class="field-row">
                        <TextField id="agent-name" label="Name" value=name max_length=80 placeholder="mara" />
                        <TextField id="agent-team" label="Team (optional)" value=team max_length=40 placeholder="platform" />
                    </div>
                    <CheckboxGroup legend="Roles" offered=OFFERED_ROLES.to_vec() picked=roles hint="A lead receives copies of all messages, assigns tasks and reviews them." />
                    <Show when=move || leads.get()>
                        <label class="option-box">
                            <input
                                type="checkbox"
                                prop:checked=move || everywhere.get()
                                on:change:target=move |event| everywhere.set(event.target().checked())
                            />
                            "Leads in all projects, as a general"
                        </label>
                    </Show>
                    <TokenTermsFields permissions=permissions expires_in=expires_in />
                </Show>
            </Form>
        }
    };
    view! {
        <Dialog title="Add an agent" close=close>
            {move || match created.get() {
                None => form().into_any(),
                Some((token, for_one)) => view! { <TokenCreated token=token for_one=for_one close=close /> }.into_any(),
            }}
        </Dialog>
    }
}

#[component]
fn TokenCreated(token: CreatedToken, for_one: bool, close: Callback<()>) -> impl IntoView {
    let CreatedToken { token, connect } = token;
    let command = connect.replace("$TOKEN", &token);
    view! {
        <p class="notice" data-tone="warn" role="status">"Copy it now: it is shown only once."</p>
        <CopyField label="Token" text=token />
        <CopyField label="Command for Claude Code" text=command />
        <p class="soft small-text">
            {if for_one {
                "The agent joins with its first tool call. A new token for the same name revokes this one."
            } else {
                "Each agent chooses its name with the tool register. The command then continues under that name with the token that register returns."
            }}
        </p>
        <footer>
            <button type="button" class="button primary" autofocus on:click=move |_| close.run(())>"Done"</button>
        </footer>
    }
}
