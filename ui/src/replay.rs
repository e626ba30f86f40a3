//! The state of a replay: the loaded part of the past, the shown event, and what comes next. The board is made by the shared reducer.
//!
//! Must not draw anything.

use std::time::Duration;

use domain::board::reducer::Board;
use domain::board::replay::{ReplayPart, ReplayStep};
use domain::event::Seq;
use domain::id::ProjectId;
use leptos::leptos_dom::helpers::IntervalHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::address::set_parameter;
use crate::client::{Client, Failure};

/// How long each event is shown while the replay plays.
const STEP: Duration = Duration::from_millis(700);
/// Moves of the scrubber in quick succession cause one request.
const DELAY: Duration = Duration::from_millis(150);

/// Where to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The event of this number. Beside an event, the next one in the direction of the move.
    To(Seq),
    Next,
    Previous,
}

/// The outcome of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Shown(Seq),
    /// The part around this event is needed first.
    Needed(Seq),
    /// The end of the log.
    End,
}

#[derive(Clone, Copy)]
pub(crate) struct Replay {
    client: Client,
    project: StoredValue<ProjectId>,
    pub(crate) part: RwSignal<Option<ReplayPart>>,
    /// The number of the shown event.
    pub(crate) at: RwSignal<Seq>,
    pub(crate) failure: RwSignal<Option<String>>,
    playing: RwSignal<Option<IntervalHandle>>,
    /// The number of the newest request. Answers to older ones are dropped.
    newest: StoredValue<u64>,
}

impl Replay {
    /// Begins at an event, or at the last one, and plays for as long as the current owner lives.
    pub(crate) fn begin(project: ProjectId, at: Option<Seq>) -> Self {
        let replay = Self {
            client: Client::from_context(),
            project: StoredValue::new(project),
            part: RwSignal::new(None),
            at: RwSignal::new(at.unwrap_or(Seq::MAX)),
            failure: RwSignal::new(None),
            playing: RwSignal::new(None),
            newest: StoredValue::new(0),
        };
        on_cleanup(move || replay.pause());
        replay.load(at, None, Duration::ZERO);
        replay
    }

    pub(crate) fn go(self, target: Target) {
        let outcome = self.part.with_untracked(|part| part.as_ref().map(|part| resolve(part, self.at.get_untracked(), target)));
        match outcome {
            Some(Outcome::Shown(at)) => self.show(at),
            Some(Outcome::Needed(at)) => {
                if let Target::To(wanted) = target {
                    // The thumb of the scrubber follows at once.
                    self.at.set(wanted);
                }
                self.load(Some(at), Some(target), DELAY);
            }
            Some(Outcome::End) => self.pause(),
            None => {}
        }
    }

    pub(crate) fn is_playing(self) -> bool {
        self.playing.with(Option::is_some)
    }

    /// Plays from the shown event, or from the beginning if it is the last one.
    pub(crate) fn play(self) {
        let ends = self.part.with_untracked(|part| part.as_ref().map(|part| (part.first, part.last)));
        if let Some((first, last)) = ends
            && self.at.get_untracked() >= last
        {
            self.go(Target::To(first));
        }
        self.playing.set(set_interval_with_handle(move || self.go(Target::Next), STEP).ok());
    }

    pub(crate) fn pause(self) {
        if let Some(handle) = self.playing.try_update(Option::take).flatten() {
            handle.clear();
        }
    }

    fn show(self, at: Seq) {
        self.at.set(at);
        set_parameter("at", Some(&at.to_string()));
    }

    /// Loads the part around an event, and then completes a move.
    fn load(self, at: Option<Seq>, then: Option<Target>, delay: Duration) {
        let Some(number) = self.newest.try_update_value(|newest| {
            *newest += 1;
            *newest
        }) else {
            return;
        };
        spawn_local(async move {
            gloo_timers::future::sleep(delay).await;
            if self.newest.try_get_value() != Some(number) {
                return;
            }
            let answer = self.client.replay(self.project.get_value(), at).await;
            if self.newest.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Ok(part) => {
                    let wanted = at.unwrap_or(part.last).clamp(part.first, part.last);
                    let shown = part.step_at(wanted).and_then(|step| part.steps.get(step)).map_or(part.first, |step| step.event.seq);
                    let outcome = then.map(|target| resolve(&part, shown, target));
                    self.failure.set(None);
                    self.part.set(Some(part));
                    match outcome {
                        Some(Outcome::Shown(at)) => self.show(at),
                        _ => self.show(shown),
                    }
                }
                Err(Failure::Refused(problem)) => self.failure.set(Some(problem.detail)),
                Err(Failure::Unreachable(what)) => self.failure.set(Some(what)),
                Err(Failure::SignedOut) => {}
            }
        });
    }
}

/// Where a move from the event `from` leads with this part.
fn resolve(part: &ReplayPart, from: Seq, target: Target) -> Outcome {
    let seq = |step: &ReplayStep| step.event.seq;
    let after = |from: Seq| part.steps.iter().map(seq).find(|seq| *seq > from);
    let before = |from: Seq| part.steps.iter().rev().map(seq).find(|seq| *seq < from);
    match target {
        Target::Next => match after(from) {
            Some(next) => Outcome::Shown(next),
            None if from < part.last => Outcome::Needed(from),
            None => Outcome::End,
        },
        Target::Previous => match before(from) {
            Some(previous) => Outcome::Shown(previous),
            None if from > part.first => Outcome::Needed(from - 1),
            None => Outcome::End,
        },
        Target::To(wanted) => {
            let wanted = wanted.clamp(part.first, part.last);
            if !part.covers(wanted) {
                return Outcome::Needed(wanted);
            }
            let found = if wanted > from { after(wanted - 1) } else { before(wanted + 1) };
            found.map_or(Outcome::Needed(wanted), Outcome::Shown)
        }
    }
}

/// The board at the shown event, with its step.
pub(crate) fn shown(part: &ReplayPart, at: Seq) -> (Board, Option<ReplayStep>) {
    (part.board_at(at), part.step_at(at).and_then(|step| part.steps.get(step)).cloned())
}

#[cfg(test)]
mod tests {
    use domain::actor::Actor;
    use domain::board::task::event::TaskEvent;
    use domain::event::Envelope;
    use domain::time::Timestamp;

    use super::*;
    use crate::testing::board;

    fn part(seqs: &[Seq], first: Seq, last: Seq) -> ReplayPart {
        let step = |seq: &Seq| ReplayStep {
            event: Envelope {
                seq: *seq,
                at: Timestamp::from_milliseconds(*seq),
                project_id: None,
                task_id: None,
                run_id: None,
                actor: Actor::Owner,
                event: TaskEvent::Created {}.into(),
                card: None,
                project: None,
            },
            sentence: format!("Event {seq}"),
        };
        ReplayPart { board: board(Vec::new()).board, steps: seqs.iter().map(step).collect(), first, last, begins_late: false, omitted: 0 }
    }

    #[test]
    fn steps_go_to_the_neighbouring_events() {
        let part = part(&[4, 7, 9], 4, 9);
        let go = |from, target| resolve(&part, from, target);
        assert_eq!((go(4, Target::Next), go(9, Target::Next)), (Outcome::Shown(7), Outcome::End));
        assert_eq!((go(9, Target::Previous), go(4, Target::Previous)), (Outcome::Shown(7), Outcome::End));
    }

    #[test]
    fn scrubber_beside_an_event_goes_on_in_its_direction() {
        let part = part(&[4, 7, 9], 4, 9);
        let go = |from, to| resolve(&part, from, Target::To(to));
        assert_eq!((go(4, 5), go(9, 8), go(4, 99), go(9, 0)), (Outcome::Shown(7), Outcome::Shown(7), Outcome::Shown(9), Outcome::Shown(4)));
    }

    #[test]
    fn events_of_another_part_are_loaded_first() {
        let part = part(&[4, 7, 9], 1, 20);
        let go = |from, target| resolve(&part, from, target);
        assert_eq!((go(9, Target::Next), go(4, Target::Previous)), (Outcome::Needed(9), Outcome::Needed(3)));
        assert_eq!((go(7, Target::To(15)), go(7, Target::To(2))), (Outcome::Needed(15), Outcome::Needed(2)));
    }
}
