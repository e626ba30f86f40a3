//! The formation that suits the project: how many agents of each class to have at the same time, and why. The reader applies the number of
//! coders; nothing changes by itself.

use domain::warroom::class::AgentClass;
use domain::warroom::formation::{Formation, FormationName, MAX_LINES};
use domain::wire::ProjectPatch;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::warroom::{class_label, formation_label};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::section_box::SectionBox;
use crate::components::warroom::number::{counted, grouped};
use crate::components::warroom::table::FactTable;
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;

#[component]
pub(crate) fn FormationSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let formation = LiveList::new(store.revision_of(ListKind::Zones), |_| false, move || client.formation(data.project())).watch();
    let shown = Memo::new(move |_| formation.value.get());
    let limit = Memo::new(move |_| store.project.with(|project| project.as_ref().and_then(|project| project.max_coders)));
    // Outside of the content, which is drawn again with each proposal.
    let applying = RwSignal::new(None::<u32>);
    view! {
        <SectionBox
            id="war-room-formation"
            title=name_of(Word::Formation)
            summary=String::new()
            loaded=Signal::derive(move || formation.value.with(Option::is_some))
            failure=formation.failure
            empty=false
            empty_heading=""
            empty_hint=""
        >
            {move || shown.get().map(|formation| view! { <Proposal formation=formation limit=limit applying=applying /> })}
        </SectionBox>
        {move || applying.get().map(|most| view! { <ApplyDialog most=most limit=limit close=Callback::new(move |()| applying.set(None)) /> })}
    }
    .into_any()
}

#[component]
fn Proposal(formation: Formation, limit: Memo<Option<u32>>, applying: RwSignal<Option<u32>>) -> impl IntoView {
    let row = |class: AgentClass| {
        let (count, why) = advice(class, &formation);
        view! {
            <tr>
                <th scope="row">{class_label(class)}</th>
                <td class="tabular">{if count == 0 { "none".to_owned() } else { count.to_string() }}</td>
                <td>{why}</td>
            </tr>
        }
    };
    let rows = CLASSES.map(row);
    let most = formation.coders;
    let apply = Reader::may_write().then(|| {
        view! {
            <button type="button" class="button small" on:click=move |_| applying.set(Some(most))>
                {format!("Use {} at most", counted(most.into(), "coder"))}
            </button>
        }
    });
    let configuration = formation.configuration.as_ref().map(|line| {
        let allowed = formation.max_parallel_agents;
        view! {
            <p class="soft small-text">
                {format!("The configuration allows {} in all projects at the same time. For this proposal, add this line to it: ", counted(allowed.into(), "agent"))}
                <code class="mono">{line.clone()}</code>
            </p>
        }
    });
    let gaps = (!formation.zones_without_oracle.is_empty()).then(
        || view! { <p class="soft small-text">{format!("Nobody answers questions about: {}.", formation.zones_without_oracle.join(", "))}</p> },
    );
    view! {
        <div class="room-facts">
            <p class="small-text">{basis(formation_label(formation.formation), &formation)}</p>
            <FactTable caption="Recommended number of agents" columns=["Class", "Agents", "Why"]>{rows.into_iter().collect_view()}</FactTable>
            {gaps}
            {configuration}
            <p class="row small-text">
                <span class="soft" role="status">{move || now_set(limit.get())}</span>
                {apply}
            </p>
        </div>
    }
    .into_any()
}

/// The classes in the order of the table.
const CLASSES: [AgentClass; 5] = [AgentClass::Lead, AgentClass::Oracle, AgentClass::Recon, AgentClass::Coder, AgentClass::Builder];

/// The size and the work that decide the proposal.
fn basis(size: &str, formation: &Formation) -> String {
    let more = if formation.lines >= MAX_LINES { " or more" } else { "" };
    let tasks = match formation.independent_tasks {
        0 => "no open task is independent of others".to_owned(),
        1 => "1 open task does not depend on another".to_owned(),
        count => format!("{} open tasks do not depend on another", grouped(count.into())),
    };
    format!("{size}: {} lines of text{more}, and {tasks}.", grouped(formation.lines))
}

/// How many agents of a class to have, and why.
fn advice(class: AgentClass, formation: &Formation) -> (u32, &'static str) {
    use FormationName::{Dungeon, Raid, Skirmish, WorldBoss};
    match (class, formation.formation) {
        (AgentClass::Lead, WorldBoss) => (formation.leads, "one for the project, and one for every two zones"),
        (AgentClass::Lead, _) => (formation.leads, "divides the work"),
        (AgentClass::Oracle, Skirmish) => (formation.oracles, "a coder can know all of it"),
        (AgentClass::Oracle, Dungeon) => (formation.oracles, "can know all of it, and answers the others' questions"),
        (AgentClass::Oracle, Raid | WorldBoss) => (formation.oracles, "one for each zone, within the bounds of this size"),
        (AgentClass::Recon, Skirmish) => (formation.recons, "coders explore the code themselves"),
        (AgentClass::Recon, _) => (formation.recons, "looks into individual questions"),
        (AgentClass::Coder, _) if formation.coders == formation.independent_tasks.max(1) => {
            (formation.coders, "one for each task that waits for no other")
        }
        (AgentClass::Coder, _) => (formation.coders, "more would wait for each other's files"),
        (AgentClass::Builder, _) => (formation.builders, "builds and tests; reviewers are of this class"),
    }
}

/// The limit of coders that is set now.
fn now_set(limit: Option<u32>) -> String {
    limit.map_or_else(|| "Now: no limit of its own.".to_owned(), |most| format!("Now: {} at most.", counted(most.into(), "coder")))
}

#[component]
fn ApplyDialog(most: u32, limit: Memo<Option<u32>>, close: Callback<()>) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let set = move |most: u32| {
        let patch = ProjectPatch { max_coders: Some(most), ..ProjectPatch::default() };
        sending.run(client.edit_project(data.project(), patch), move |_| close.run(()));
    };
    // Zero removes the limit.
    let remove = limit.get_untracked().is_some().then(|| ("Remove the limit", Callback::new(move |()| set(0))));
    let coders = counted(most.into(), "coder");
    view! {
        <Dialog title=format!("Use {coders} at most") close=close>
            <Form verb=format!("Use {coders} at most") sending=sending submit=move |()| set(most) close=close secondary=remove>
                <p>
                    {format!("The runner starts no coder of this project while {} at work. Running coders continue.", if most == 1 { "1 is".to_owned() } else { format!("{most} are") })}
                </p>
                <p class="soft">{move || now_set(limit.get())}</p>
            </Form>
        </Dialog>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::warroom::formation::FormationFacts;

    use super::*;

    fn formation(lines: u64, independent_tasks: u32) -> Formation {
        Formation::propose(FormationFacts { lines, independent_tasks, max_parallel_agents: 4, ..FormationFacts::default() })
    }

    #[test]
    fn every_class_has_a_number_and_a_reason() {
        for lines in [10, 60_000, 300_000, MAX_LINES] {
            let formation = formation(lines, 1);
            let counts = CLASSES.map(|class| advice(class, &formation).0);
            assert_eq!(counts, [formation.leads, formation.oracles, formation.recons, formation.coders, formation.builders]);
        }
        assert_eq!(AgentClass::ALL.len(), CLASSES.len());
    }

    #[test]
    fn number_of_coders_is_that_of_tasks_or_of_the_size() {
        assert_eq!(advice(AgentClass::Coder, &formation(300_000, 1)), (1, "one for each task that waits for no other"));
        assert_eq!(advice(AgentClass::Coder, &formation(300_000, 9)), (2, "more would wait for each other's files"));
    }

    #[test]
    fn basis_names_the_size_and_the_work() {
        assert_eq!(
            basis("Small repository", &formation(12_000, 1)),
            "Small repository: 12,000 lines of text, and 1 open task does not depend on another."
        );
        assert!(basis("Very large repository", &formation(MAX_LINES, 3)).contains("500,000 lines of text or more, and 3 open tasks do not"));
        assert_eq!((now_set(None), now_set(Some(1))), ("Now: no limit of its own.".to_owned(), "Now: 1 coder at most.".to_owned()));
    }
}
