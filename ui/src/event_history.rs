//! The loaded part of a history: pages of events, newest first. It grows at its top while events arrive, and at its end on request.
//!
//! Must not draw anything.

use std::time::Duration;

use domain::board::activity::Activity;
use domain::event::Seq;
use domain::event::live::LiveEvent;
use domain::event::sentence::DETAILS;
use domain::id::ProjectId;
use domain::time::Timestamp;
use domain::wire::List;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{ActivityFilter, Client, Failure};
use crate::socket::{Live, Notice};

/// Events in quick succession cause one request.
const DELAY: Duration = Duration::from_millis(300);

#[derive(Clone, Copy)]
pub(crate) struct EventHistory {
    client: Client,
    project: StoredValue<ProjectId>,
    filter: Signal<ActivityFilter>,
    pub(crate) entries: RwSignal<Vec<Activity>>,
    /// The value of `before` for the next page, or none if all are loaded.
    older: RwSignal<Option<Seq>>,
    loaded: RwSignal<bool>,
    pub(crate) failure: RwSignal<Option<String>>,
    is_scheduled: StoredValue<bool>,
}

impl EventHistory {
    /// Loads the newest events that pass the filter, and follows those that arrive, for as long as the current owner lives.
    pub(crate) fn follow(project: ProjectId, filter: impl Into<Signal<ActivityFilter>>) -> Self {
        let history = Self {
            client: Client::from_context(),
            project: StoredValue::new(project),
            filter: filter.into(),
            entries: RwSignal::new(Vec::new()),
            older: RwSignal::new(None),
            loaded: RwSignal::new(false),
            failure: RwSignal::new(None),
            is_scheduled: StoredValue::new(false),
        };
        Effect::new(move || {
            history.filter.track();
            history.entries.set(Vec::new());
            history.older.set(None);
            history.loaded.set(false);
            history.load(None);
        });
        Live::from_context().follow(move |notice| match notice {
            Notice::Event(event) if history.shows(event) => history.schedule(),
            // Events may have been missed.
            Notice::Connected { .. } => history.schedule(),
            Notice::Event(_) | Notice::Activity(..) => {}
        });
        history
    }

    /// Whether the first answer is there.
    pub(crate) fn is_loaded(self) -> bool {
        self.loaded.get()
    }

    pub(crate) fn has_older(self) -> bool {
        self.older.with(Option::is_some)
    }

    pub(crate) fn load_older(self) {
        if let Some(before) = self.older.get_untracked() {
            self.load(Some(before));
        }
    }

    /// Whether an event can add an entry. The server decides it for good.
    fn shows(self, event: &LiveEvent) -> bool {
        let is_own = self.project.with_value(|project| event.project_id.as_ref() == Some(project));
        is_own
            && self.filter.with_untracked(|filter| {
                filter.task.as_ref().is_none_or(|task| event.task_id.as_ref() == Some(task)) && (filter.details || !DETAILS.contains(&event.kind()))
            })
    }

    fn schedule(self) {
        if self.is_scheduled.try_update_value(|scheduled| std::mem::replace(scheduled, true)) == Some(false) {
            set_timeout(
                move || {
                    if self.is_scheduled.try_update_value(|scheduled| *scheduled = false).is_some() {
                        self.load(None);
                    }
                },
                DELAY,
            );
        }
    }

    /// Loads the page before an event, or the newest page.
    fn load(self, before: Option<Seq>) {
        let filter = self.filter.get_untracked();
        let request = self.client.activity(self.project.get_value(), filter.clone(), before);
        spawn_local(async move {
            let answer = request.await;
            // The page was closed, or its filter changed.
            if self.filter.try_get_untracked() != Some(filter) {
                return;
            }
            match answer {
                Ok(page) => self.add(page, before.is_some()),
                Err(Failure::Refused(problem)) => self.failure.set(Some(problem.detail)),
                Err(Failure::Unreachable(what)) => self.failure.set(Some(what)),
                Err(Failure::SignedOut) => {}
            }
        });
    }

    fn add(self, page: List<Activity>, is_older: bool) {
        self.failure.set(None);
        self.loaded.set(true);
        if is_older {
            self.older.set(page.next);
            self.entries.update(|entries| entries.extend(page.items));
            return;
        }
        let (entries, is_replaced) = merge(&self.entries.get_untracked(), page.items, page.next);
        if is_replaced {
            self.older.set(page.next);
        }
        if self.entries.with_untracked(|known| *known != entries) {
            self.entries.set(entries);
        }
    }
}

/// Puts the newest page before the known entries. The second part says whether it replaces them, because there is a gap between them.
fn merge(known: &[Activity], newest: Vec<Activity>, next: Option<Seq>) -> (Vec<Activity>, bool) {
    // Every event from `next` on is in the page, or is not shown.
    let is_replaced = known.first().is_none_or(|first| next.is_some_and(|next| first.seq < next));
    let end = newest.last().map(|entry| entry.seq);
    let rest = known.iter().filter(|entry| !is_replaced && end.is_none_or(|end| entry.seq < end)).cloned();
    let all = newest.iter().cloned().chain(rest).collect();
    (all, is_replaced)
}

/// The days of the entries, newest first. `day_of` names the day of a time.
pub(crate) fn days(entries: &[Activity], day_of: impl Fn(Timestamp) -> String) -> Vec<String> {
    let mut days: Vec<String> = entries.iter().map(|entry| day_of(entry.at)).collect();
    days.dedup();
    days
}

#[cfg(test)]
mod tests {
    use domain::actor::Actor;
    use domain::board::activity::Topic;

    use super::*;

    fn entry(seq: Seq) -> Activity {
        Activity {
            seq,
            at: Timestamp::from_milliseconds(seq * 1000),
            actor: Actor::Owner,
            task_id: None,
            run_id: None,
            kind: "task_created".to_owned(),
            topic: Topic::Work,
            sentence: String::new(),
        }
    }

    fn entries(seqs: &[Seq]) -> Vec<Activity> {
        seqs.iter().map(|seq| entry(*seq)).collect()
    }

    #[test]
    fn newest_page_joins_what_is_loaded() {
        assert_eq!(merge(&[], entries(&[9, 8]), Some(8)), (entries(&[9, 8]), true));
        assert_eq!(merge(&entries(&[8, 7, 3]), entries(&[9, 8, 7]), Some(7)), (entries(&[9, 8, 7, 3]), false));
        assert_eq!(merge(&entries(&[8, 7]), entries(&[9, 8, 7]), None), (entries(&[9, 8, 7]), false));
        assert_eq!(merge(&entries(&[8, 7]), Vec::new(), Some(2)), (entries(&[8, 7]), false), "a page that ends early");
    }

    #[test]
    fn newest_page_after_a_gap_replaces_what_is_loaded() {
        assert_eq!(merge(&entries(&[3, 2]), entries(&[9, 8]), Some(8)), (entries(&[9, 8]), true));
    }

    #[test]
    fn days_follow_each_other_once() {
        let day_of = |at: Timestamp| (at.milliseconds() / 3000).to_string();
        assert_eq!(days(&entries(&[9, 8, 7, 6, 2]), day_of), ["3", "2", "0"]);
        assert!(days(&[], day_of).is_empty());
    }
}
