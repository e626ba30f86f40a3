//! The report of an absence, which is the first thing on the page when someone looks at the board again after an hour.
//!
//! Must not know what is worth reporting: the server composes the report.

use std::time::Duration;

use domain::board::report::{ProjectReport, Report, SentBack, TaskTitle};
use domain::id::ProjectId;
use domain::runs::usage::consumption;
use domain::time::Timestamp;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::attention_label;
use crate::components::inline_code::sentence;
use crate::lazy::lazy;
use crate::parts;
use crate::route::{Navigation, Route};
use crate::storage::storage;
use crate::time::{now, span};

/// The time without a look at the board after which a report is shown.
const ABSENCE: Duration = Duration::from_secs(3600);
/// How often a visible page counts as a look.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// The key of the last look in the storage of the browser, which its pages share.
const LAST_LOOK: &str = "last-look";

/// The time of the last look before an absence, until someone closes its report.
#[derive(Clone, Copy)]
pub(crate) struct Absence {
    since: RwSignal<Option<Timestamp>>,
}

impl Absence {
    /// Starts to record when someone looks at the board.
    pub(crate) fn provide() {
        let absence = Self { since: RwSignal::new(None) };
        provide_context(absence);
        absence.update();
        set_interval(move || absence.update(), LOOK_INTERVAL);
        // The frame around all pages is never removed, and neither is its listener.
        let _listener = window_event_listener_untyped("visibilitychange", move |_| absence.update());
    }

    /// Counts as a look, unless an absence ends with it: then the answer to the request for its report does.
    fn update(self) {
        if document().hidden() {
            return;
        }
        let now = now();
        match last_look().filter(|last| is_absence(*last, now)) {
            Some(last) => self.since.set(Some(last)),
            None => record_look(now),
        }
    }
}

fn is_absence(last: Timestamp, now: Timestamp) -> bool {
    now.since(last) >= ABSENCE
}

fn last_look() -> Option<Timestamp> {
    storage()?.get_item(LAST_LOOK).ok()??.parse().ok()
}

fn record_look(now: Timestamp) {
    if let Some(storage) = storage() {
        // Without storage, no report is shown.
        let _stored = storage.set_item(LAST_LOOK, &now.to_string());
    }
}

/// The place of the report in a page.
#[component]
pub(crate) fn AbsenceReport() -> impl IntoView {
    let absence = expect_context::<Absence>();
    move || absence.since.get().map(|since| lazy(move || parts::report(since)))
}

/// The report of what happened since the last look.
#[component]
pub(crate) fn ReportSince(since: Timestamp) -> impl IntoView {
    let (absence, client) = (expect_context::<Absence>(), Client::from_context());
    let report = RwSignal::new(None::<Report>);
    spawn_local(async move {
        // Without an answer, the next look asks again: the server may be about to start.
        let Ok(answer) = client.report(since).await else { return };
        record_look(now());
        let _page_closed = report.try_set(Some(answer).filter(|report| !report.is_empty()));
    });
    move || {
        let Report { since, until, projects, parked, usage } = report.get()?;
        let spent = consumption(usage.cost_micro_usd, usage.tokens()).map(|spent| format!(" · {spent}")).unwrap_or_default();
        let parked = parked
            .into_iter()
            .map(|parking| view! { <p>{format!("No agents start: {}. {}", parking.reason.sentence(), parking.reason.remedy())}</p> });
        Some(view! {
            <section class="absence-report" aria-label="While you were away">
                <div class="row">
                    <h2>"While you were away"</h2>
                    <span class="soft tabular">{format!("{}{spent}", span(until.since(since)))}</span>
                    <span class="spacer"></span>
                    <button type="button" class="button small" on:click=move |_| absence.since.set(None)>"Close"</button>
                </div>
                {parked.collect_view()}
                {projects.into_iter().map(|project| view! { <ProjectSection project=project /> }).collect_view()}
            </section>
        })
    }
}

#[component]
fn ProjectSection(project: ProjectReport) -> impl IntoView {
    let navigation = Navigation::from_context();
    let ProjectReport { project_id, title, completed, ready_to_land, planned_tasks, needs_you, finished, sent_back, waits, usage } = project;
    let route = Route::Board { project: project_id.clone(), task: None };
    let spent = consumption(usage.cost_micro_usd, usage.tokens());
    let heading = [Some(title), completed.then(|| "complete".to_owned()), spent].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let ready = ready_to_land.map(|ready| {
        let size = ready.diff.map(|diff| format!(": {}", diff.sentence())).unwrap_or_default();
        let route = Route::Land { project: project_id.clone(), landing: None };
        let label = format!("Ready to land on {}", ready.base_branch);
        view! { <li><strong><a href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{label}</a></strong>{size}</li> }
    });
    let plan_route = Route::Plan { project: project_id.clone() };
    let plan = (planned_tasks > 0).then(|| {
        let label = format!("Review the plan of {planned_tasks} tasks.");
        view! {
            <li>
                <strong>"Needs you: plan. "</strong>
                <a href=plan_route.path() on:click=move |event| navigation.follow(&event, plan_route.clone())>{label}</a>
            </li>
        }
    });
    let item = {
        let project = project_id.clone();
        move |heading: String, task: TaskTitle, rest: String| {
            view! {
                <li><strong>{heading}</strong>" "<ReportedTask project=project.clone() task=task />" "{rest}</li>
            }
        }
    };
    let needs_you = needs_you.into_iter().map(|needs| {
        let heading = format!("Needs you: {}.", attention_label(needs.kind));
        item(heading, needs.task, format!("{} {}", sentence(needs.action.sentence()), needs.reason))
    });
    let needs_you = needs_you.collect_view();
    let sent_back = sent_back.into_iter().map(|sent_back| item("Sent back.".to_owned(), sent_back.task.clone(), cause(&sent_back))).collect_view();
    let finished = finished.into_iter().map(|task| item("Finished.".to_owned(), task, String::new())).collect_view();
    let waits = waits.into_iter().map(|wait| view! { <li class="soft">{format!("{} waiting: {}", wait.total, wait.reason)}</li> }).collect_view();
    view! {
        <h3>
            <a href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{heading}</a>
        </h3>
        <ul>{ready}{plan}{needs_you}{sent_back}{finished}{waits}</ul>
    }
}

/// A task of any project. A click opens its panel.
#[component]
fn ReportedTask(project: ProjectId, task: TaskTitle) -> impl IntoView {
    let navigation = Navigation::from_context();
    let label = format!("{} {}", task.task_id, task.title);
    let route = Route::Board { project, task: Some(task.task_id) };
    view! { <a class="task-link" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{label}</a> }
}

/// By whom, how often and why a task was sent back.
fn cause(sent_back: &SentBack) -> String {
    let times = if sent_back.times > 1 { format!("{} times, last ", sent_back.times) } else { String::new() };
    let reason = sent_back.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    sentence(&format!("{times}by {}{reason}", sent_back.by))
}

#[cfg(test)]
mod tests {
    use domain::actor::Actor;
    use domain::id::TaskId;

    use super::*;

    #[test]
    fn report_is_due_after_an_hour() {
        let now = Timestamp::from_milliseconds(1_769_850_300_000);
        assert!(is_absence(now.before(ABSENCE), now));
        assert!(!is_absence(now.before(ABSENCE - Duration::from_millis(1)), now));
        assert!(!is_absence(now.after(ABSENCE), now), "the clock was set back");
    }

    #[test]
    fn cause_names_times_and_reason() {
        let task = TaskTitle { task_id: TaskId::new(1), title: String::new() };
        let at = Timestamp::from_milliseconds(0);
        let once = SentBack { task, times: 1, by: Actor::Owner, at, reason: None };
        assert_eq!(cause(&once), "By human.");
        let twice = SentBack { times: 2, reason: Some("No test".to_owned()), ..once };
        assert_eq!(cause(&twice), "2 times, last by human: No test.");
    }
}
