//! Helpers: the rules for starting them, and the helpers that agents started.

use domain::team::agent::Agent;
use domain::team::minion::{GLOBAL, MAX_MINIONS, Minion, MinionStatus, SpawnPolicy};
use domain::wire::SetSpawnPolicy;
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::team::minion_badge;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::{ProjectData, items};
use crate::reader::Reader;
use crate::store::Store;
use crate::time::{Clock, span};

#[component]
pub(crate) fn MinionSettings() -> impl IntoView {
    let (data, client, store) = (ProjectData::from_context(), Client::from_context(), Store::from_context());
    let revision = store.revision_of(ListKind::Minions);
    let policies = LiveList::new(revision, |_| false, move || items(client.spawn_policies(data.project())));
    let minions = LiveList::new(revision, |_| false, move || items(client.minions(data.project())));
    let rules = Memo::new(move |_| policies.value.get().map(with_global_first).unwrap_or_default());
    let active = data.active_agents();
    // Agents without their own rule.
    let may_write = Reader::may_write();
    let others = Memo::new(move |_| {
        let has_rule = |agent: &Agent| rules.with(|rules| rules.iter().any(|rule| rule.scope == agent.name));
        active.get().into_iter().filter(|agent| !has_rule(agent)).map(|agent| agent.name).collect::<Vec<_>>()
    });
    let add_rule = move |name: String| {
        let global = rules.with_untracked(|rules| rules.first().cloned().unwrap_or_default());
        let policy = SetSpawnPolicy { scope: name, enabled: global.enabled, max_minions: global.max_minions };
        client.act(client.set_spawn_policy(data.project(), policy), |_| {});
    };
    let (running, ended) = (with_state(minions, true), with_state(minions, false));
    view! {
        <section class="section" aria-labelledby="helpers">
            <h2 id="helpers">"Helpers"</h2>
            <ul class="rows">
                <For each=move || rules.get() key=|rule| (rule.scope.clone(), rule.enabled, rule.max_minions) let:rule>
                    <Rule rule=rule />
                </For>
            </ul>
            <Show when=move || may_write && !others.with(Vec::is_empty)>
                <select class="input narrow" aria-label="Add a rule for one agent" on:change:target=move |event| {
                    let name = event.target().value();
                    event.target().set_value("");
                    if !name.is_empty() {
                        add_rule(name);
                    }
                }>
                    <option value="">"Add a rule for one agent…"</option>
                    {move || others.get().into_iter().map(|name| view! { <option value=name.clone()>{name.clone()}</option> }).collect_view()}
                </select>
            </Show>
            <ul class="rows" aria-label="Running helpers">
                <For each=move || running.get() key=|minion| minion.id let:minion>
                    <MinionRow minion=minion />
                </For>
            </ul>
            <Show when=move || !ended.with(Vec::is_empty)>
                <details class="fold">
                    <summary>{move || format!("{} ended", ended.with(Vec::len))}</summary>
                    <ul class="rows folded">
                        <For each=move || ended.get() key=|minion| minion.id let:minion>
                            <MinionRow minion=minion />
                        </For>
                    </ul>
                </details>
            </Show>
        </section>
    }
}

/// The rules with the global one first, which has a default.
fn with_global_first(policies: Vec<SpawnPolicy>) -> Vec<SpawnPolicy> {
    let (global, own): (Vec<_>, Vec<_>) = policies.into_iter().partition(|policy| policy.scope == GLOBAL);
    let global = global.into_iter().next().unwrap_or_default();
    std::iter::once(global).chain(own).collect()
}

/// The running or the ended helpers, newest first.
fn with_state(minions: LiveList<Vec<Minion>>, running: bool) -> Memo<Vec<Minion>> {
    Memo::new(move |_| {
        let mut minions = minions.value.get().unwrap_or_default();
        minions.retain(|minion| (minion.status == MinionStatus::Spawned) == running);
        minions.sort_by_key(|minion| std::cmp::Reverse(minion.id));
        minions
    })
}

#[component]
fn Rule(rule: SpawnPolicy) -> impl IntoView {
    let (data, client, may_write) = (ProjectData::from_context(), Client::from_context(), Reader::may_write());
    let SpawnPolicy { scope, enabled, max_minions, .. } = rule;
    let subject = if scope == GLOBAL { "Every agent".to_owned() } else { scope.clone() };
    // After a refusal, the field shows the current value again.
    let set = move |enabled: bool, limit: u32, field: HtmlInputElement| {
        let policy = SetSpawnPolicy { scope: scope.clone(), enabled, max_minions: limit };
        client.watch(client.set_spawn_policy(data.project(), policy), move |result| {
            if result.is_err() {
                field.set_checked(!enabled);
                field.set_value(&max_minions.to_string());
            }
        });
    };
    let toggle = set.clone();
    let label = format!("{subject}: helpers at most");
    view! {
        <li class="entry">
            <label class="check entry-main">
                <input type="checkbox" disabled=!may_write prop:checked=enabled on:change:target=move |event| toggle(event.target().checked(), max_minions, event.target()) />
                <span>
                    <strong>{subject}</strong>
                    {if enabled { " may start helpers" } else { " may not start helpers" }}
                </span>
            </label>
            {enabled.then(|| view! {
                <span class="limit">
                    "at most "
                    <input
                        class="input count"
                        type="number"
                        min="0"
                        max=MAX_MINIONS.to_string()
                        disabled=!may_write
                        aria-label=label
                        prop:value=max_minions.to_string()
                        on:change:target=move |event| {
                            if let Ok(limit) = event.target().value().parse() {
                                set(true, limit, event.target());
                            }
                        }
                    />
                    " at once"
                </span>
            })}
        </li>
    }
}

#[component]
fn MinionRow(minion: Minion) -> impl IntoView {
    let clock = Clock::from_context();
    let (label, tone) = minion_badge(minion.status);
    let (started, ended) = (minion.spawned_at, minion.completed_at);
    let duration = move || ended.map_or_else(|| clock.elapsed(started), |ended| span(ended.since(started)));
    view! {
        <li class="entry">
            <div class="entry-main">
                <p>{minion.task_description}</p>
                <p class="row small-text soft">
                    <span>{format!("started by {}", minion.pilot)}</span>
                    <span class="faint tabular">{duration}</span>
                </p>
                {minion.result.map(|result| view! { <p class="small-text soft">{result}</p> })}
            </div>
            <Badge label=label tone=tone />
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_rule_comes_first_and_has_a_default() {
        let own = SpawnPolicy { scope: "mara".to_owned(), ..SpawnPolicy::default() };
        let off = SpawnPolicy { enabled: false, ..SpawnPolicy::default() };
        assert_eq!(with_global_first(vec![own.clone(), off.clone()]), [off, own.clone()]);
        assert_eq!(with_global_first(vec![own.clone()]), [SpawnPolicy::default(), own]);
    }
}
