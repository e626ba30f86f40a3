//! The checks of a task: the state on its card, and each result with the end of its output in its panel.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::check::{CheckOutcome, CheckResult, CheckStage, CheckState, StageResults};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, check_output_address};
use crate::components::badge::{Badge, Tone};

/// The badge of a card whose checks matter for its next step.
pub(crate) fn checks_badge(card: &Card) -> Option<(&'static str, Tone)> {
    match (card.status, card.checks.last()?.state) {
        (Status::InReview | Status::InProgress, CheckState::Failed) => Some(("checks: failed", Tone::Bad)),
        (Status::InReview, CheckState::Running) => Some(("checks: running", Tone::Live)),
        (Status::InReview, CheckState::Passed) => Some(("checks: passed", Tone::Good)),
        (Status::InReview, CheckState::NotRun) => Some(("checks: not run", Tone::Warn)),
        // The coder works on the next commit, or the task is finished.
        _ => None,
    }
}

/// The checks of a task; nothing if it has none.
#[component]
pub(crate) fn ChecksBox(task: TaskId, card: Signal<Card>) -> impl IntoView {
    let client = Client::from_context();
    let checks = Memo::new(move |_| card.with(|card| card.checks.clone()));
    let found = RwSignal::new(Vec::<StageResults>::new());
    let asked = task.clone();
    Effect::new(move || {
        if checks.with(Vec::is_empty) {
            return;
        }
        let request = client.checks(asked.clone());
        spawn_local(async move {
            if let Ok(answer) = request.await {
                let _panel_closed = found.try_set(answer.items);
            }
        });
    });
    move || {
        let task = task.clone();
        let stages: Vec<_> = found.get().into_iter().map(|stage| view! { <Stage task=task.clone() stage=stage /> }).collect();
        (!stages.is_empty()).then(|| view! { <section class="section" aria-label="Checks"><h2>"Checks"</h2>{stages}</section> })
    }
}

#[component]
fn Stage(task: TaskId, stage: StageResults) -> impl IntoView {
    let when = match stage.checks.stage {
        CheckStage::Quick => "Before the review",
        CheckStage::Full => "Before the merge",
    };
    let (label, tone) = state_badge(stage.checks.state);
    let results = stage.results.into_iter().map(|result| view! { <CheckRow task=task.clone() result=result /> }).collect_view();
    view! {
        <p class="row small-text"><span>{when}</span><Badge label=label tone=tone /></p>
        {results}
    }
}

const fn state_badge(state: CheckState) -> (&'static str, Tone) {
    match state {
        CheckState::Running => ("Running", Tone::Live),
        CheckState::Passed => ("Passed", Tone::Good),
        CheckState::Failed => ("Failed", Tone::Bad),
        CheckState::NotRun => ("Not run", Tone::Warn),
    }
}

#[component]
fn CheckRow(task: TaskId, result: CheckResult) -> impl IntoView {
    let tone = if result.outcome == CheckOutcome::Passed { Tone::Good } else { Tone::Bad };
    let (sentence, label) = (result.sentence(), format!("Whole output of {}", result.command));
    let output = check_output_address(&task, result.id);
    view! {
        <details class="attempt">
            <summary>
                <code>{result.command}</code>
                <span class="small-text spacer" data-tone=tone.as_str()>{sentence}</span>
            </summary>
            <div class="attempt-body log">
                <div class="tool"><pre>{result.tail}</pre></div>
                <p class="small-text"><a href=output target="_blank" rel="noopener" aria-label=label>"Whole output"</a></p>
            </div>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use domain::runs::check::TaskChecks;

    use super::*;
    use crate::testing;

    #[test]
    fn card_shows_its_last_checks_while_they_matter() {
        let checks = |state| TaskChecks { stage: CheckStage::Quick, state, sha: String::new(), tree: String::new(), profile_version: 1 };
        let shown = |status, state| {
            let card = Card { checks: vec![checks(CheckState::Passed), checks(state)], ..testing::card(1, status) };
            checks_badge(&card).map(|(label, _)| label)
        };
        assert_eq!(shown(Status::InReview, CheckState::Running), Some("checks: running"));
        assert_eq!(shown(Status::InReview, CheckState::Passed), Some("checks: passed"));
        assert_eq!(shown(Status::InReview, CheckState::NotRun), Some("checks: not run"));
        assert_eq!(shown(Status::InProgress, CheckState::Failed), Some("checks: failed"));
        for state in [CheckState::Running, CheckState::Passed, CheckState::NotRun] {
            assert_eq!(shown(Status::InProgress, state), None, "a new commit follows");
        }
        assert_eq!(shown(Status::Done, CheckState::Passed), None);
        assert_eq!(checks_badge(&testing::card(1, Status::InReview)), None);
    }
}
