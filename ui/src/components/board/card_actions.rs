//! The actions on a card itself: what only the person can do next.
//!
//! Must not know what an action needs beyond a click: the panel asks for it.

use domain::board::attention::AttentionAction;
use domain::board::card::Card;
use domain::board::status::HeldBy;
use domain::board::task::retry::RetryOptions;
use domain::id::TaskId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, OfferedAnswers};
use crate::components::badge::card_state::CardState;
use crate::components::toast::Toasts;
use crate::lazy::soon;
use crate::parts;
use crate::route::{Navigation, Route};
use crate::socket::Live;

/// Answers that a card offers; the panel offers the others.
const MAX_OPTIONS: usize = 2;
/// Answers that a key chooses.
const MAX_KEYS: usize = 9;

/// The offer of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CardAction {
    Start,
    /// Opens the review that waits for the person.
    Review,
    /// Settles its attention.
    Settle(AttentionAction),
}

/// The action that a card offers, if any.
pub(crate) fn card_action(card: &Card) -> Option<CardAction> {
    if CardState::of(card) == CardState::YourReview {
        return Some(CardAction::Review);
    }
    if let Some(attention) = &card.attention {
        return Some(CardAction::Settle(attention.action(card.status)));
    }
    let is_held = matches!(card.held_by, Some(HeldBy::Human | HeldBy::Stop)) && card.status.is_open() && card.run.is_none();
    is_held.then_some(CardAction::Start)
}

#[component]
pub(crate) fn CardActions(
    task: TaskId,
    card: Card,
    /// Whether its first button is the filled one of the page.
    #[prop(into)]
    loud: Signal<bool>,
) -> impl IntoView {
    let client = Client::from_context();
    let action = card_action(&card)?;
    let (project, id) = (card.project_id.clone(), task.clone());
    let open = move |label: &'static str| {
        let route = Route::Board { project: project.clone(), task: Some(id.clone()) };
        view! { <OpenButton label=label route=route loud=loud /> }.into_any()
    };
    let buttons = match action {
        CardAction::Start => {
            let start = Callback::new(move |()| client.act(client.start(task.clone()), |_| {}));
            view! { <ActionButton label="Start" act=start loud=loud /> }.into_any()
        }
        CardAction::Review => {
            let route = Route::Review { project: card.project_id.clone(), task };
            view! { <OpenButton label="Review" route=route loud=loud /> }.into_any()
        }
        CardAction::Settle(AttentionAction::Answer) => {
            let route = Route::Board { project: card.project_id.clone(), task: Some(task.clone()) };
            soon(move || parts::card_answers(task.clone(), route.clone(), loud))
        }
        CardAction::Settle(_) if !choices(&card).is_empty() => {
            let agent = card.attention.as_ref().and_then(|attention| attention.agent.clone());
            let (project, offered) = (card.project_id.clone(), choices(&card));
            soon(move || parts::card_choices(project.clone(), task.clone(), agent.clone(), offered.to_vec(), loud))
        }
        CardAction::Settle(action) => match settle(client, task, action) {
            Ok((label, act)) => view! { <ActionButton label=label act=act loud=loud /> }.into_any(),
            Err(label) => open(label),
        },
    };
    Some(view! { <div class="card-actions">{buttons}</div> })
}

/// The actions that the person chooses from, if there are several.
fn choices(card: &Card) -> &'static [AttentionAction] {
    card.attention.as_ref().map_or(&[], |attention| attention.choices(card.status))
}

/// The request that settles an attention by itself, with its words; or the words of a link to the task, where the person decides more.
pub(crate) fn settle(client: Client, task: TaskId, action: AttentionAction) -> Result<(&'static str, Callback<()>), &'static str> {
    let retry = {
        let task = task.clone();
        Callback::new(move |()| client.act(client.retry(task.clone(), RetryOptions::default()), |_| {}))
    };
    match action {
        AttentionAction::Retry => Ok(("Retry", retry)),
        AttentionAction::Accept => Ok(("Accept", retry)),
        AttentionAction::Raise => Ok(("Raise the limit", Callback::new(move |()| client.act(client.raise(task.clone()), |_| {})))),
        AttentionAction::Answer => Err("Answer…"),
        AttentionAction::Permit => Err("Allow or deny…"),
        AttentionAction::Message => Err("Write to the agent…"),
        AttentionAction::EditDependencies => Err("Edit the dependencies…"),
        AttentionAction::Assign => Err("Assign…"),
        AttentionAction::Assess => Err("Assess…"),
    }
}

/// The answer with this place among those of a question, from 0, which the key of its number chooses.
#[component]
pub(crate) fn AnswerButton(
    place: usize,
    #[prop(into)] label: String,
    act: Callback<()>,
    /// Whether it is the filled button of the page.
    #[prop(optional, into)]
    loud: Signal<bool>,
    #[prop(default = true)] small: bool,
    /// Whether the reader may not answer.
    #[prop(optional)]
    disabled: bool,
) -> impl IntoView {
    let live = Live::from_context();
    let key = (place < MAX_KEYS).then(|| (place + 1).to_string());
    view! {
        <button
            type="button"
            class="button answer"
            class:small=small
            class:primary=loud
            aria-keyshortcuts=key
            disabled=move || disabled || live.is_lost()
            on:click=move |_| act.run(())
        >
            {label}
        </button>
    }
    .into_any()
}

/// A button that only works while the server answers.
#[component]
pub(crate) fn ActionButton(
    #[prop(into)] label: String,
    act: Callback<()>,
    /// Whether it is the filled button of the page.
    #[prop(optional, into)]
    loud: Signal<bool>,
) -> impl IntoView {
    let live = Live::from_context();
    view! {
        <button type="button" class="button small" class:primary=loud disabled=move || live.is_lost() on:click=move |_| act.run(())>
            {label}
        </button>
    }
}

#[component]
fn OpenButton(label: &'static str, route: Route, #[prop(into)] loud: Signal<bool>) -> impl IntoView {
    let navigation = Navigation::from_context();
    view! {
        <a class="button small" class:primary=loud href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
            {label}
        </a>
    }
}

/// The options of a question, the suggested one first.
#[component]
pub(crate) fn Answers(task: TaskId, route: Route, #[prop(into)] loud: Signal<bool>) -> impl IntoView {
    let (client, toasts) = (Client::from_context(), Toasts::from_context());
    let question = RwSignal::new(None::<OfferedAnswers>);
    let request = client.offered_answers(task.clone());
    spawn_local(async move {
        if let Ok(answers) = request.await {
            let _card_closed = question.try_set(answers);
        }
    });
    let task = StoredValue::new(task);
    let route = StoredValue::new(route);
    move || {
        let options: Vec<String> =
            question.get().map(|offered| answers(offered.options, offered.default).into_iter().take(MAX_OPTIONS).collect()).unwrap_or_default();
        let has_options = !options.is_empty();
        let buttons = options.into_iter().enumerate().map(|(index, option)| {
            let answer = option.clone();
            let act = Callback::new(move |()| {
                client.act(client.answer(task.get_value(), answer.clone()), move |_| toasts.success("Answered. The agent continues."));
            });
            view! { <AnswerButton place=index label=option act=act loud=Signal::derive(move || index == 0 && loud.get()) /> }
        });
        view! {
            {buttons.collect_view()}
            <OpenButton label=if has_options { "Other…" } else { "Answer…" } route=route.get_value() loud=Signal::derive(move || !has_options && loud.get()) />
        }
    }
}

/// The options of a question, the suggested one first. Every place shows them in this order, because their keys count them.
pub(crate) fn answers(options: Vec<String>, default: Option<String>) -> Vec<String> {
    let suggested = default.filter(|default| options.contains(default));
    let others = options.into_iter().filter(|option| Some(option) != suggested.as_ref()).collect::<Vec<_>>();
    suggested.iter().cloned().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use domain::board::attention::{Attention, AttentionKind};
    use domain::board::status::Status;

    use super::*;
    use crate::testing;

    #[test]
    fn card_offers_what_only_a_person_can_do() {
        let card = testing::card(1, Status::Backlog);
        assert_eq!(card_action(&card), None);
        assert_eq!(card_action(&Card { held_by: Some(HeldBy::Human), ..card.clone() }), Some(CardAction::Start));
        assert_eq!(card_action(&Card { held_by: Some(HeldBy::Plan), ..card.clone() }), None, "the plan starts it");
        let failed = Card { attention: Some(Attention::new(AttentionKind::Failed, "")), held_by: Some(HeldBy::Human), ..card };
        assert_eq!(card_action(&failed), Some(CardAction::Settle(AttentionAction::Retry)));
        assert!(choices(&failed).is_empty());
        let attention = Attention::assignee_removed("ben", domain::time::Timestamp::from_milliseconds(0));
        let removed = Card { attention: Some(attention), ..failed };
        assert_eq!(choices(&removed).len(), 3);
    }
}
