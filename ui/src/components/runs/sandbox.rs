//! The sandbox of agents: its tier or the choice of it in the dialog of a new project, and what it refused to a run.
//!
//! Must not know what a tier protects: `domain` does.

use domain::runs::sandbox::{Access, SandboxStatus, SandboxTier};
use domain::team::person::Right;
use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::client::Client;
use crate::components::inline_code::InlineCode;
use crate::moves::Choice;
use crate::reader::Reader;
use crate::store::Store;

/// The tiers that this reader has to choose from, before agents start.
pub(crate) fn choices(status: ServerStatus) -> Vec<SandboxTier> {
    if !Reader::current().may(Right::Administer) {
        return Vec::new();
    }
    status.server.with(|server| server.as_ref().and_then(|server| server.sandbox.as_ref()).map(|sandbox| sandbox.choices.clone())).unwrap_or_default()
}

/// The sandbox of the project's agents, or the question for it.
#[component]
pub(crate) fn SandboxField(picked: RwSignal<Option<SandboxTier>>) -> impl IntoView {
    let status = ServerStatus::from_context();
    let sandbox = Memo::new(move |_| status.server.with(|server| server.as_ref().and_then(|server| server.sandbox.clone())));
    move || {
        let sandbox = sandbox.get()?;
        let choices = choices(status);
        Some(view! {
            <div class="field">
                {(!choices.is_empty()).then(|| view! {
                    <div class="choices" role="radiogroup" aria-label="Sandbox of agents">
                        {choices.into_iter().map(|tier| {
                            view! { <Choice name="sandbox" title=title(tier) detail=tier.sentence() value=Some(tier) picked=picked /> }
                        }).collect_view()}
                    </div>
                })}
                <p class="hint"><InlineCode text=explanation(&sandbox) /></p>
            </div>
        })
    }
}

const fn title(tier: SandboxTier) -> &'static str {
    match tier {
        SandboxTier::None => "Without a sandbox",
        SandboxTier::Jail => "In a jail",
        SandboxTier::JailNet => "In a jail with allowed hosts only",
    }
}

fn explanation(sandbox: &SandboxStatus) -> String {
    let tier = sandbox.tier.map(|tier| format!("Sandbox {tier}: {}.", tier.sentence()));
    let parts = [tier, sandbox.detail.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The accesses that the sandbox of a run refused, each with the control that allows it.
#[component]
pub(crate) fn Refusals(refused: Vec<Access>) -> impl IntoView {
    let is_empty = refused.is_empty();
    (!is_empty).then(|| {
        view! {
            <ul class="refusals small-text" aria-label="Refused by the jail">
                {refused.into_iter().map(|access| view! { <Refusal access=access /> }).collect_view()}
            </ul>
        }
    })
}

#[component]
fn Refusal(access: Access) -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let text = access.refused();
    let may_allow = access.is_allowable() && Reader::current().may(Right::Administer);
    let is_allowed = {
        let access = access.clone();
        Memo::new(move |_| store.project.with(|project| project.as_ref().is_some_and(|project| project.allowed_access.contains(&access))))
    };
    let allow = Callback::new(move |()| {
        if let Some(project) = store.project.with_untracked(|project| project.as_ref().map(|project| project.id.clone())) {
            client.act(client.allow_access(project, access.clone()), |_| {});
        }
    });
    view! {
        <li>
            <span>{text}</span>
            {move || match (is_allowed.get(), may_allow) {
                (true, _) => Some(view! { <span class="soft">"allowed for later attempts"</span> }.into_any()),
                (false, true) => Some(view! {
                    <button type="button" class="button small" on:click=move |_| allow.run(())>"Allow for this repository"</button>
                }.into_any()),
                (false, false) => None,
            }}
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanation_names_the_tier_and_the_cure() {
        let sandbox = |tier, detail: Option<&str>| SandboxStatus { tier, detail: detail.map(str::to_owned), choices: Vec::new() };
        let unprotected = explanation(&sandbox(Some(SandboxTier::None), Some("A jail needs bubblewrap.")));
        assert_eq!(unprotected, "Sandbox none: agents run as you and can read and change whatever you can. A jail needs bubblewrap.");
        assert_eq!(explanation(&sandbox(None, Some("Choose."))), "Choose.");
    }
}
