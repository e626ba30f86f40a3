//! The history of a project in plain words, newest first, by day. New events appear at the top and do not move what the reader looks at.

use domain::board::activity::{Activity, Topic};
use domain::event::Seq;
use domain::id::TaskId;
use domain::team::agent::RUNNER;
use leptos::html::Div;
use leptos::prelude::*;

use crate::client::ActivityFilter;
use crate::components::badge::Tone;
use crate::components::badge::team::name_label;
use crate::components::board::task_options::{task_label, task_options};
use crate::components::filter_chips::{Chip, FilterChips, FilterOffers, Offer};
use crate::components::icon::{Icon, UP};
use crate::components::inline_code::sentence;
use crate::event_history::{EventHistory, days};
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::route::{Navigation, Route, Section};
use crate::store::Store;
use crate::time::{Clock, day_heading, local_clock, local_day};

/// Distance from the top, in pixels, at which the list still counts as scrolled to its top.
const TOP_MARGIN: i32 = 24;

const fn topic_label(topic: Topic) -> &'static str {
    match topic {
        Topic::Work => "Work",
        Topic::Decisions => "Decisions",
        Topic::Messages => "Messages",
        Topic::Failures => "Failures",
        Topic::Project => "Project",
    }
}

const fn topic_tone(topic: Topic) -> Tone {
    match topic {
        Topic::Failures => Tone::Bad,
        Topic::Work | Topic::Decisions | Topic::Messages | Topic::Project => Tone::Neutral,
    }
}

#[component]
pub(crate) fn ActivityPage() -> impl IntoView {
    let (data, navigation, clock) = (ProjectData::from_context(), Navigation::from_context(), Clock::from_context());
    let filter = Memo::new(move |_| navigation.get().activity_filter());
    let history = EventHistory::follow(data.project(), filter);
    let list = NodeRef::<Div>::new();
    // The newest event when the list was last at its top.
    let seen = RwSignal::new(None);
    let newest = move || history.entries.with(|entries| entries.first().map(|entry| entry.seq));
    let is_at_top = move || list.get_untracked().is_none_or(|list| list.scroll_top() < TOP_MARGIN);
    Effect::new(move || {
        let newest = newest();
        if is_at_top() {
            seen.set(newest);
        }
    });
    let unseen = Memo::new(move |_| {
        let Some(seen) = seen.get() else { return 0 };
        history.entries.with(|entries| newer_than(seen, entries.iter().map(|entry| entry.seq)))
    });
    let to_top = move |_| {
        if let Some(list) = list.get_untracked() {
            list.set_scroll_top(0);
        }
        seen.set(untrack(newest));
    };
    let days = Memo::new(move |_| history.entries.with(|entries| days(entries, local_day)));
    let of_day =
        move |day: &str| history.entries.with(|entries| entries.iter().filter(|entry| local_day(entry.at) == day).cloned().collect::<Vec<_>>());
    let today = Memo::new(move |_| local_day(clock.now()));
    let heading = move |day: String| move || today.with(|today| day_heading(&day, today));
    let is_empty = Memo::new(move |_| history.entries.with(Vec::is_empty));
    view! {
        <div class="activity-page">
            <div class="activity-head">
                <h2>"Activity"</h2>
                <Filters filter=filter />
            </div>
            <div
                class="activity-list"
                role="region"
                aria-label="Activity"
                tabindex="0"
                node_ref=list
                on:scroll=move |_| if is_at_top() { seen.set(untrack(newest)) }
            >
                <Show when=move || unseen.get() != 0>
                    <button type="button" class="button small activity-new" on:click=to_top>
                        <Icon drawing=UP />
                        {move || new_events(unseen.get())}
                    </button>
                </Show>
                {move || history.failure.get().map(|why| view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> })}
                <Show when=move || !history.is_loaded() && history.failure.with(Option::is_none)>
                    <p class="soft" role="status">"Loading…"</p>
                </Show>
                <Show when=move || history.is_loaded() && is_empty.get()>
                    <NoActivity filter=filter history=history />
                </Show>
                <For each=move || days.get() key=String::clone let:day>
                    <section class="activity-day">
                        <h3>{heading(day.clone())}</h3>
                        <ol>
                            <For each=move || of_day(&day) key=|entry| entry.seq let:entry>
                                <Entry entry=entry />
                            </For>
                        </ol>
                    </section>
                </For>
                <Show when=move || history.has_older()>
                    <button type="button" class="button" on:click=move |_| history.load_older()>"Show older"</button>
                </Show>
            </div>
        </div>
    }
}

/// The number of events, newest first, after the one that the reader saw last.
fn newer_than(seen: Seq, events: impl Iterator<Item = Seq>) -> usize {
    events.take_while(|seq| *seq > seen).count()
}

fn new_events(count: usize) -> String {
    if count == 1 { "1 new event".to_owned() } else { format!("{count} new events") }
}

/// The list without events, or without any that match the filters.
#[component]
fn NoActivity(filter: Memo<ActivityFilter>, history: EventHistory) -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let all = StoredValue::new(Section::Activity.route(data.project()));
    let heading = move || match (filter.with(|filter| *filter == ActivityFilter::default()), history.has_older()) {
        (true, false) => "Nothing has happened yet",
        (false, false) => "No events match these filters",
        (_, true) => "No recent events match these filters",
    };
    view! {
        <div class="empty">
            <h3>{heading}</h3>
            <Show when=move || filter.with(|filter| *filter != ActivityFilter::default())>
                <a class="button" href=all.with_value(Route::path) on:click=move |event| navigation.follow(&event, all.get_value())>
                    "Show all activity"
                </a>
            </Show>
        </div>
    }
}

/// A part of the filter that is shown as a chip.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Task(TaskId),
    Actor(String),
}

fn parts(filter: &ActivityFilter) -> Vec<Part> {
    filter.task.clone().map(Part::Task).into_iter().chain(filter.actor.clone().map(Part::Actor)).collect()
}

/// The filter with one more part, which replaces another of its kind.
fn with(filter: ActivityFilter, part: Part) -> ActivityFilter {
    match part {
        Part::Task(task) => ActivityFilter { task: Some(task), ..filter },
        Part::Actor(actor) => ActivityFilter { actor: Some(actor), ..filter },
    }
}

fn without(filter: ActivityFilter, part: &Part) -> ActivityFilter {
    match part {
        Part::Task(_) => ActivityFilter { task: None, ..filter },
        Part::Actor(_) => ActivityFilter { actor: None, ..filter },
    }
}

/// The filters, which are part of the address.
#[component]
fn Filters(filter: Memo<ActivityFilter>) -> impl IntoView {
    let (data, store, navigation) = (ProjectData::from_context(), Store::from_context(), Navigation::from_context());
    let show = move |filter: ActivityFilter| navigation.go(Route::Activity { project: data.project(), filter });
    let topics = Topic::ALL.iter().map(|topic| {
        let topic = *topic;
        let chosen = Memo::new(move |_| filter.with(|filter| filter.topic == Some(topic)));
        let toggle = move |_| show(ActivityFilter { topic: (!chosen.get_untracked()).then_some(topic), ..filter.get_untracked() });
        view! {
            <button type="button" class="chip" aria-pressed=move || chosen.get().to_string() on:click=toggle>{topic_label(topic)}</button>
        }
    });
    let has_details = Memo::new(move |_| filter.with(|filter| filter.details));
    let toggle_details = move |_| show(ActivityFilter { details: !has_details.get_untracked(), ..filter.get_untracked() });
    let persons = Reader::current().persons();
    let agents = data.agents.watch().value;
    let offers = Signal::derive(move || {
        let agents = agents.get().unwrap_or_default().into_iter().map(|agent| agent.name);
        let names = persons.iter().cloned().chain([RUNNER.to_owned()]).chain(agents);
        let actors = names.map(|name| Offer { label: name_label(&name), part: Part::Actor(name) });
        actors.chain(task_options(store, |_| true).into_iter().map(|(id, label)| Offer { label, part: Part::Task(id) })).collect::<Vec<_>>()
    });
    let label = move |part: &Part| match part {
        Part::Task(task) => task_label(store, task),
        Part::Actor(actor) => name_label(actor),
    };
    let chips = Signal::derive(move || {
        let chip = |part: Part| Chip { label: label(&part), remove: Callback::new(move |()| show(without(filter.get_untracked(), &part))) };
        filter.with(parts).into_iter().map(chip).collect::<Vec<_>>()
    });
    let is_filtered = Memo::new(move |_| filter.with(|filter| *filter != ActivityFilter::default()));
    view! {
        <div class="row" role="group" aria-label="Topics">
            {topics.collect_view()}
            <button type="button" class="chip" aria-pressed=move || has_details.get().to_string() on:click=toggle_details>"Details"</button>
        </div>
        <FilterOffers
            id="activity-filters"
            label="Task or participant"
            offers=offers
            choose=Callback::new(move |part| show(with(filter.get_untracked(), part)))
        />
        <Show when=move || is_filtered.get()>
            <FilterChips chips=chips clear=move |()| show(ActivityFilter::default()) />
        </Show>
    }
    .into_any()
}

#[component]
fn Entry(entry: Activity) -> impl IntoView {
    let (data, navigation, clock) = (ProjectData::from_context(), Navigation::from_context(), Clock::from_context());
    let at = entry.at;
    let task = entry.task_id.map(|task| {
        let title = Store::from_context().card(&task).map(|card| move || card.with(|card| card.title.clone()));
        let id = title.is_none().then(|| task.to_string());
        let route = Route::Board { project: data.project(), task: Some(task) };
        view! {
            <a class="task-link" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
                {id}
                {title}
            </a>
        }
    });
    let past = Route::Replay { project: data.project(), at: Some(entry.seq) };
    view! {
        <li>
            <a class="faint tabular" href=past.path() title="Show the board at that time" on:click=move |event| navigation.follow(&event, past.clone())>
                <time datetime=at.to_string() title=move || clock.ago(at)>{local_clock(at)}</time>
            </a>
            <span class="topic" data-tone=topic_tone(entry.topic).as_str()>{topic_label(entry.topic)}</span>
            <p>
                {entry.sentence}
                " "
                {task}
            </p>
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_replaces_one_of_its_kind_and_is_removed_alone() {
        let (first, second) = (Part::Task(TaskId::new(1)), Part::Task(TaskId::new(2)));
        let actor = Part::Actor("mara".to_owned());
        let both = [first, actor.clone(), second.clone()].into_iter().fold(ActivityFilter::default(), with);
        assert_eq!(parts(&both), [second.clone(), actor.clone()]);
        assert_eq!(parts(&without(both.clone(), &second)), std::slice::from_ref(&actor));
        assert_eq!(without(without(both, &actor), &second), ActivityFilter::default());
    }

    #[test]
    fn button_counts_the_events_above_what_the_reader_saw() {
        assert_eq!([9, 7, 3].map(|seen| newer_than(seen, [9, 8, 5].into_iter())), [0, 2, 3]);
        assert_eq!([1, 2].map(new_events), ["1 new event", "2 new events"]);
    }
}
