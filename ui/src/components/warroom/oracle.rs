//! Questions to experts: those that wait and those that are answered, with what the experts of the zones were used for.

mod ask;
mod usage;

use domain::warroom::oracle::{OracleAnswer, OracleQuestion};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::team::{name_heading, name_label};
use crate::components::badge::warroom::question_badge;
use crate::components::prose::LongProse;
use crate::components::section_box::SectionBox;
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::paged_list::{PagedList, ShowOlder};
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use crate::time::local_time;
use ask::AskDialog;
use usage::UsageTable;

#[component]
pub(crate) fn QuestionsSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let list = PagedList::watch(store.revision_of(ListKind::Questions), move |before| client.oracle_questions(data.project(), before));
    let asking = RwSignal::new(false);
    let tools = Reader::may_write()
        .then(|| view! { <button type="button" class="button small" on:click=move |_| asking.set(true)>"Ask a question"</button> }.into_any());
    view! {
        <SectionBox
            id="war-room-questions"
            title=name_of(Word::Questions)
            summary=Signal::derive(move || summary(&list.items()))
            tools=tools
            loaded=Signal::derive(move || list.is_loaded())
            failure=list.list.failure
            empty=Signal::derive(move || list.is_empty())
            empty_heading="No questions yet"
            empty_hint="An agent asks the expert of a zone instead of reading all of its files. Set a zone with an expert first."
        >
            <UsageTable />
            <ul class="room-list">
                <For each=move || list.items() key=|question| (question.id, question.answer.is_some(), question.waits.clone()) let:question>
                    <QuestionRow question=question />
                </For>
            </ul>
            <ShowOlder label="Show older" has_older=Signal::derive(move || list.has_older()) show_older=move |()| list.show_older() />
        </SectionBox>
        {move || asking.get().then(|| view! { <AskDialog close=Callback::new(move |()| asking.set(false)) /> })}
    }
    .into_any()
}

/// How many of the shown questions wait.
fn summary(questions: &[OracleQuestion]) -> String {
    match questions.iter().filter(|question| question.answer.is_none()).count() {
        0 => String::new(),
        1 => "1 waits for its answer".to_owned(),
        count => format!("{count} wait for their answers"),
    }
}

#[component]
fn QuestionRow(question: OracleQuestion) -> impl IntoView {
    let (label, tone) = question_badge(question.answer.is_some());
    let (route, at) = (route(&question), question.asked_at);
    let answer = question.answer.map(|answer| {
        let (heading, at) = (heading(&question.oracle, &answer), answer.answered_at);
        view! {
            <div class="closing">
                <p class="small-text soft">{heading} <time datetime=at.to_string() title=at.to_string()>{local_time(at)}</time></p>
                <LongProse text=answer.text />
            </div>
        }
    });
    view! {
        <li class="knowledge">
            <p class="row small-text">
                <strong class="name">{question.zones.join(", ")}</strong>
                <Badge label=label tone=tone />
                <span class="soft">{route}</span>
                <time class="faint tabular spacer" datetime=at.to_string() title=at.to_string()>{local_time(at)}</time>
            </p>
            <LongProse text=question.question />
            {question.waits.map(|why| view! { <p class="soft small-text">{format!("Not started yet: {why}.")}</p> })}
            {answer}
        </li>
    }
    .into_any()
}

/// The expert that answered, and whether it had answered the same before.
fn heading(oracle: &str, answer: &OracleAnswer) -> String {
    let expert = name_heading(oracle);
    match (answer.failed, answer.noted_at) {
        (true, _) => format!("{expert} could not answer, "),
        (false, Some(at)) => format!("{expert} answered from its notes of {}, ", local_time(at)),
        (false, None) => format!("{expert} answered, "),
    }
}

/// The asker and the expert, such as `you asked mara`.
fn route(question: &OracleQuestion) -> String {
    format!("{} asked {}", name_label(&question.asker), name_label(&question.oracle))
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn questions_that_wait_are_counted() {
        let at = Timestamp::from_milliseconds(0);
        let open = OracleQuestion {
            id: 1,
            project_id: ProjectId::new(1),
            zones: vec!["audio".to_owned()],
            asker: "human".to_owned(),
            oracle: "mara".to_owned(),
            question: "Who frees it?".to_owned(),
            asked_at: at,
            answer: None,
            task_id: None,
            waits: None,
        };
        let answer =
            OracleAnswer { message_id: 2, text: "The caller.".to_owned(), answered_at: at, context_tokens: None, noted_at: None, failed: false };
        let answered = OracleQuestion { answer: Some(answer), ..open.clone() };
        assert_eq!(route(&open), "you asked mara");
        assert_eq!(summary(&[answered.clone(), open.clone()]), "1 waits for its answer");
        assert_eq!((summary(&[answered]), summary(&[open.clone(), open])), (String::new(), "2 wait for their answers".to_owned()));
    }
}
