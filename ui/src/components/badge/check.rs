//! Labels and colours of checks, and when a card shows them. Must not decide anything.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::runs::check::CheckState;

use super::Tone;

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

/// The state of the checks of one stage.
pub(crate) const fn state_badge(state: CheckState) -> (&'static str, Tone) {
    match state {
        CheckState::Running => ("Running", Tone::Live),
        CheckState::Passed => ("Passed", Tone::Good),
        CheckState::Failed => ("Failed", Tone::Bad),
        CheckState::NotRun => ("Not run", Tone::Warn),
    }
}

#[cfg(test)]
mod tests {
    use domain::runs::check::{CheckStage, TaskChecks};

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
