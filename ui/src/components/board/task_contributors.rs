//! The contributors of a task, its goal and its submission.

use domain::board::card::Card;
use domain::id::GoalId;
use domain::wire::TaskView;
use leptos::prelude::*;
use serde_json::Value;

use crate::client::Client;
use crate::components::badge::team::{name_label, names_label};
use crate::components::prose::Prose;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::route::{Navigation, Section};

#[component]
pub(crate) fn TaskContributors(card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let contributors = Memo::new(move |_| card.with(|card| card.contributors.clone()));
    let rows = move || {
        let contributors = contributors.get();
        let one = |name: Option<String>| name.map(|name| name_label(&name));
        let assigned = contributors.assigned_to.map(|name| match contributors.role_hat {
            Some(hat) => format!("{} as {hat}", name_label(&name)),
            None => name_label(&name),
        });
        let built = Some(names_label(contributors.built_by.iter().map(String::as_str))).filter(|names| !names.is_empty());
        [
            ("Assigned to", assigned),
            ("Built by", built),
            ("Approved by", one(contributors.approved_by)),
            ("Verified by", one(contributors.verified_by)),
        ]
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
    let result =
        Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.task.result.as_deref().map(submission_parts))).unwrap_or_default());
    view! {
        {rows}
        <GoalRow card=card />
        {move || {
            let fact = |(name, text): (String, String)| {
                view! {
                    <dt>{name}</dt>
                    <dd><Prose text=text /></dd>
                }
            };
            result.get().into_iter().map(fact).collect_view()
        }}
    }
}

/// The parts of a submission. A plain text is a single part.
fn submission_parts(result: &str) -> Vec<(String, String)> {
    const PARTS: [(&str, &str); 3] = [("summary", "Submission"), ("files", "Files"), ("test_results", "Tests")];
    let Ok(Value::Object(parts)) = serde_json::from_str(result) else {
        return vec![("Submission".to_owned(), result.to_owned())];
    };
    let part = |(key, label): (&str, &str)| parts.get(key).and_then(Value::as_str).map(|text| (label.to_owned(), text.to_owned()));
    let found: Vec<_> = PARTS.into_iter().filter_map(part).collect();
    if found.is_empty() { vec![("Submission".to_owned(), result.to_owned())] } else { found }
}

/// The goal of the task and a choice of another, once the project has goals.
#[component]
fn GoalRow(card: Signal<Card>) -> impl IntoView {
    let (data, client, navigation) = (ProjectData::from_context(), Client::from_context(), Navigation::from_context());
    let may_write = Reader::may_write();
    let goal = Memo::new(move |_| card.with(|card| card.goal_id.clone()));
    let goals = Memo::new(move |_| {
        let goals = data.goals.value.get().unwrap_or_default();
        goals.into_iter().map(|goal| (goal.id, goal.title)).collect::<Vec<_>>()
    });
    let shown = move || goal.get().map(|goal| goal.to_string()).unwrap_or_default();
    let choose = move |select: web_sys::HtmlSelectElement| {
        let task = card.with_untracked(|card| card.id.clone());
        client.watch(client.link_goal(task, select.value().parse::<GoalId>().ok()), move |result| {
            if result.is_err() {
                // Restore the current goal.
                select.set_value(&untrack(shown));
            }
        });
    };
    let options = move || {
        let chosen = goal.get();
        let option = |(id, title): (GoalId, String)| {
            let label = format!("{id} {}", domain::text::excerpt(&title, 60));
            view! { <option value=id.to_string() selected=chosen.as_ref() == Some(&id)>{label}</option> }
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
                    disabled=!may_write
                    prop:value=shown
                    on:change:target=move |event| choose(event.target())
                >
                    <option value="">"None"</option>
                    {options}
                </select>
                <a class="small-text" href=move || Section::Goals.route(data.project()).path() on:click=move |event| navigation.follow(&event, Section::Goals.route(data.project()))>
                    "All goals"
                </a>
            </dd>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::submission_parts;

    #[test]
    fn submission_is_split_into_parts() {
        let parts = submission_parts(r#"{"summary":"Parser written","files":"src/a.rs","test_results":null}"#);
        let parts: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(parts, [("Submission", "Parser written"), ("Files", "src/a.rs")]);
        assert_eq!(submission_parts("done")[0].1, "done");
        assert_eq!(submission_parts("{\"other\":1}")[0].1, "{\"other\":1}");
    }
}
