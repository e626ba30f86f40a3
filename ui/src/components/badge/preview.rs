//! Labels and colours of apps, and when a card shows them. Must not decide anything.

use domain::board::card::Card;
use domain::runs::preview::PreviewState;

use super::Tone;

/// The state of an app.
pub(crate) const fn preview_badge(state: PreviewState) -> (&'static str, Tone) {
    match state {
        PreviewState::Starting => ("app: starting", Tone::Live),
        PreviewState::Running => ("app: running", Tone::Good),
        PreviewState::Stopping => ("app: ending", Tone::Neutral),
        PreviewState::Failed => ("app: failed", Tone::Bad),
    }
}

/// The badge of a card whose app runs or failed while its work is open.
pub(crate) fn app_badge(card: &Card) -> Option<(&'static str, Tone)> {
    card.preview.as_ref().filter(|_| card.status.is_open()).map(|preview| preview_badge(preview.state))
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;
    use domain::runs::preview::Preview;
    use domain::time::Timestamp;

    use super::*;
    use crate::testing;

    #[test]
    fn card_shows_its_app_while_its_work_is_open() {
        let preview = Some(Preview::requested(Timestamp::from_milliseconds(0)));
        let shown = |status| app_badge(&Card { preview: preview.clone(), ..testing::card(1, status) });
        assert_eq!(shown(Status::InProgress), Some(("app: starting", Tone::Live)));
        assert_eq!(shown(Status::Done), None);
        assert_eq!(app_badge(&testing::card(1, Status::InProgress)), None);
    }
}
