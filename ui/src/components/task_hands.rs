//! Who had a hand in a task, the goal that it belongs to, and what its assignee handed in.

use domain::board::card::Card;
use domain::id::GoalId;
use domain::wire::TaskView;
use leptos::prelude::*;
use serde_json::Value;

use crate::client::Client;
use crate::components::badge::among::{name_word, names_word};
use crate::room::Room;
use crate::route::{Navigation, Section};

#[component]
pub(crate) fn TaskHands(card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let hands = Memo::new(move |_| card.with(|card| card.contributors.clone()));
    let rows = move || {
        let hands = hands.get();
        let one = |name: Option<String>| name.map(|name| name_word(&name));
        let assigned = hands.assigned_to.map(|name| match hands.role_hat {
            Some(hat) => format!("{} as {hat}", name_word(&name)),
            None => name_word(&name),
        });
        let built = Some(names_word(hands.built_by.iter().map(String::as_str))).filter(|names| !names.is_empty());
        [("Assigned to", assigned), ("Built by", built), ("Approved by", one(hands.approved_by)), ("Verified by", one(hands.verified_by))]
            .into_iter()
            .filter_map(|(name, value)| {
                value.map(|value| {
                    view! {
                        <dt>{name}</dt>
                        <dd>{value}</dd>
                    }
                })
            })
            .collect_view()
    };
    let result = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.task.result.as_deref().map(handed_in))).unwrap_or_default());
    view! {
        {rows}
        <GoalRow card=card />
        {move || {
            let fact = |(name, text): (String, String)| {
                view! {
                    <dt>{name}</dt>
                    <dd class="said">{text}</dd>
                }
            };
            result.get().into_iter().map(fact).collect_view()
        }}
    }
}

/// What was handed in, part by part; a plain text is one part.
fn handed_in(result: &str) -> Vec<(String, String)> {
    const PARTS: [(&str, &str); 3] = [("summary", "Handed in"), ("files", "Files"), ("test_results", "Tests")];
    let Ok(Value::Object(parts)) = serde_json::from_str(result) else {
        return vec![("Handed in".to_owned(), result.to_owned())];
    };
    let named = |(key, word): (&str, &str)| parts.get(key).and_then(Value::as_str).map(|text| (word.to_owned(), text.to_owned()));
    let found: Vec<_> = PARTS.into_iter().filter_map(named).collect();
    if found.is_empty() { vec![("Handed in".to_owned(), result.to_owned())] } else { found }
}

/// The goal, to be seen or chosen, once the project has any.
#[component]
fn GoalRow(card: Signal<Card>) -> impl IntoView {
    let (room, client, navigation) = (Room::here(), Client::here(), Navigation::here());
    let goal = Memo::new(move |_| card.with(|card| card.goal_id.clone()));
    let goals = Memo::new(move |_| {
        let goals = room.goals.value.get().unwrap_or_default();
        goals.into_iter().map(|goal| (goal.id, goal.title)).collect::<Vec<_>>()
    });
    let shown = move || goal.get().map(|goal| goal.to_string()).unwrap_or_default();
    let choose = move |select: web_sys::HtmlSelectElement| {
        let task = card.with_untracked(|card| card.id.clone());
        client.watch(client.link_goal(task, select.value().parse::<GoalId>().ok()), move |result| {
            if result.is_err() {
                // Shows again what holds.
                select.set_value(&untrack(shown));
            }
        });
    };
    let options = move || {
        let chosen = goal.get();
        let option = |(id, title): (GoalId, String)| {
            let words = format!("{id} {}", domain::text::excerpt(&title, 60));
            view! { <option value=id.to_string() selected=chosen.as_ref() == Some(&id)>{words}</option> }
        };
        goals.get().into_iter().map(option).collect_view()
    };
    view! {
        <Show when=move || !goals.with(Vec::is_empty)>
            <dt>"Goal"</dt>
            <dd class="row">
                <select
                    class="input narrow"
                    aria-label="Goal of the task"
                    prop:value=shown
                    on:change:target=move |event| choose(event.target())
                >
                    <option value="">"None"</option>
                    {options}
                </select>
                <a class="small-text" href=move || Section::Goals.route(room.project()).path() on:click=move |event| navigation.follow(&event, Section::Goals.route(room.project()))>
                    "All goals"
                </a>
            </dd>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::handed_in;

    #[test]
    fn a_submission_is_shown_part_by_part() {
        let parts = handed_in(r#"{"summary":"Parser written","files":"src/a.rs","test_results":null}"#);
        let parts: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(parts, [("Handed in", "Parser written"), ("Files", "src/a.rs")]);
        assert_eq!(handed_in("done")[0].1, "done");
        assert_eq!(handed_in("{\"other\":1}")[0].1, "{\"other\":1}");
    }
}
