//! Minions: what agents may start by themselves, and what they started.

use domain::team::agent::Agent;
use domain::team::minion::{GLOBAL, MAX_MINIONS, Minion, MinionStatus, SpawnPolicy};
use domain::wire::SetSpawnPolicy;
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::among::minion_look;
use crate::feed::Feed;
use crate::news::Topic;
use crate::room::Room;
use crate::store::Store;
use crate::time::{Clock, span};

#[component]
pub(crate) fn Spawning() -> impl IntoView {
    let (room, client, store) = (Room::here(), Client::here(), Store::here());
    let policies = Feed::new(
        store.news(Topic::Minions),
        |_| false,
        move || {
            let list = client.spawn_policies(room.project());
            async move { Ok(list.await?.items) }
        },
    );
    let minions = Feed::new(
        store.news(Topic::Minions),
        |_| false,
        move || {
            let list = client.minions(room.project());
            async move { Ok(list.await?.items) }
        },
    );
    let rules = Memo::new(move |_| policies.value.get().map(complete).unwrap_or_default());
    let present = room.present();
    // Agents without a rule of their own.
    let others = Memo::new(move |_| {
        let has_rule = |agent: &Agent| rules.with(|rules| rules.iter().any(|rule| rule.scope == agent.name));
        present.get().into_iter().filter(|agent| !has_rule(agent)).map(|agent| agent.name).collect::<Vec<_>>()
    });
    let own_rule = move |name: String| {
        let global = rules.with_untracked(|rules| rules.first().cloned().unwrap_or_default());
        let policy = SetSpawnPolicy { scope: name, enabled: global.enabled, max_minions: global.max_minions };
        client.act(client.set_spawn_policy(room.project(), policy), |_| {});
    };
    let (running, ended) = (among(minions, true), among(minions, false));
    view! {
        <section class="section" aria-labelledby="spawning">
            <h2 id="spawning">"Helpers of agents"</h2>
            <ul class="rows">
                <For each=move || rules.get() key=|rule| (rule.scope.clone(), rule.enabled, rule.max_minions) let:rule>
                    <Rule rule=rule />
                </For>
            </ul>
            <Show when=move || !others.with(Vec::is_empty)>
                <select class="input narrow" aria-label="A rule for one agent" on:change:target=move |event| {
                    let name = event.target().value();
                    event.target().set_value("");
                    if !name.is_empty() {
                        own_rule(name);
                    }
                }>
                    <option value="">"A rule for one agent…"</option>
                    {move || others.get().into_iter().map(|name| view! { <option value=name.clone()>{name.clone()}</option> }).collect_view()}
                </select>
            </Show>
            <ul class="rows" aria-label="Helpers at work">
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

/// The rule for everybody first, even where nobody has set it.
fn complete(policies: Vec<SpawnPolicy>) -> Vec<SpawnPolicy> {
    let (global, own): (Vec<_>, Vec<_>) = policies.into_iter().partition(|policy| policy.scope == GLOBAL);
    let global = global.into_iter().next().unwrap_or_default();
    std::iter::once(global).chain(own).collect()
}

/// Those that run, or those that ended, the newest first.
fn among(minions: Feed<Vec<Minion>>, running: bool) -> Memo<Vec<Minion>> {
    Memo::new(move |_| {
        let mut minions = minions.value.get().unwrap_or_default();
        minions.retain(|minion| (minion.status == MinionStatus::Spawned) == running);
        minions.sort_by_key(|minion| std::cmp::Reverse(minion.id));
        minions
    })
}

#[component]
fn Rule(rule: SpawnPolicy) -> impl IntoView {
    let (room, client) = (Room::here(), Client::here());
    let SpawnPolicy { scope, enabled, max_minions, .. } = rule;
    let who = if scope == GLOBAL { "Every agent".to_owned() } else { scope.clone() };
    // After a refusal the field shows again what holds.
    let set = move |enabled: bool, most: u32, field: HtmlInputElement| {
        let policy = SetSpawnPolicy { scope: scope.clone(), enabled, max_minions: most };
        client.watch(client.set_spawn_policy(room.project(), policy), move |result| {
            if result.is_err() {
                field.set_checked(!enabled);
                field.set_value(&max_minions.to_string());
            }
        });
    };
    let toggle = set.clone();
    let label = format!("{who}: how many helpers at once");
    view! {
        <li class="entry">
            <label class="check entry-main">
                <input type="checkbox" prop:checked=enabled on:change:target=move |event| toggle(event.target().checked(), max_minions, event.target()) />
                <span>
                    <strong>{who}</strong>
                    {if enabled { " may start helpers" } else { " may start no helpers" }}
                </span>
            </label>
            {enabled.then(|| view! {
                <span class="most">
                    "at most "
                    <input
                        class="input count"
                        type="number"
                        min="0"
                        max=MAX_MINIONS.to_string()
                        aria-label=label
                        prop:value=max_minions.to_string()
                        on:change:target=move |event| {
                            if let Ok(most) = event.target().value().parse() {
                                set(true, most, event.target());
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
    let clock = Clock::here();
    let (word, tone) = minion_look(minion.status);
    let (began, ended) = (minion.spawned_at, minion.completed_at);
    let lasted = move || ended.map_or_else(|| clock.elapsed(began), |ended| span(ended.since(began)));
    view! {
        <li class="entry">
            <div class="entry-main">
                <p>{minion.task_description}</p>
                <p class="row small-text soft">
                    <span>{format!("of {}", minion.pilot)}</span>
                    <span class="faint tabular">{lasted}</span>
                </p>
                {minion.result.map(|result| view! { <p class="small-text soft">{result}</p> })}
            </div>
            <Badge word=word tone=tone />
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_for_everybody_comes_first_and_is_never_missing() {
        let own = SpawnPolicy { scope: "mara".to_owned(), ..SpawnPolicy::default() };
        let off = SpawnPolicy { enabled: false, ..SpawnPolicy::default() };
        assert_eq!(complete(vec![own.clone(), off.clone()]), [off, own.clone()]);
        assert_eq!(complete(vec![own.clone()]), [SpawnPolicy::default(), own]);
    }
}
