//! Attracts the attention of a person who looks elsewhere: the icon and title of the tab, and notifications and a sound for the kinds of
//! decisions that they chose.
//!
//! Must not know what needs a person: the server composes the list.

use std::collections::HashSet;

use domain::board::needs_you::{Decision, NeedsYouItem};
use leptos::prelude::*;
use web_sys::{AudioContext, Notification, NotificationOptions, NotificationPermission};

use crate::overview::Overview;
use crate::storage::storage;

/// The kinds of decisions, as the settings offer them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Question,
    Permission,
    Failure,
    Review,
    Plan,
    Message,
    Budget,
    Land,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] =
        [Self::Question, Self::Permission, Self::Failure, Self::Review, Self::Plan, Self::Message, Self::Budget, Self::Land];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Question => "Questions from agents",
            Self::Permission => "Permission requests",
            Self::Failure => "Failures, and tasks that are stuck",
            Self::Review => "Reviews that need a person",
            Self::Plan => "Plans that await approval",
            Self::Message => "Messages to you",
            Self::Budget => "Budgets and limits",
            Self::Land => "Projects that are ready to land",
        }
    }

    /// Its name in the storage of the browser.
    const fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Permission => "permission",
            Self::Failure => "failure",
            Self::Review => "review",
            Self::Plan => "plan",
            Self::Message => "message",
            Self::Budget => "budget",
            Self::Land => "land",
        }
    }

    const fn of(decision: &Decision) -> Self {
        match decision {
            Decision::Question { .. } => Self::Question,
            Decision::Permission { .. } => Self::Permission,
            Decision::Attention { .. } | Decision::PullRequest { .. } | Decision::BaseNotFetched { .. } => Self::Failure,
            Decision::Review { .. } => Self::Review,
            Decision::Plan { .. } => Self::Plan,
            Decision::Message { .. } => Self::Message,
            Decision::Budget { .. } => Self::Budget,
            Decision::Land { .. } => Self::Land,
        }
    }
}

/// A way to tell the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Desktop,
    Sound,
}

impl Channel {
    const fn name(self) -> &'static str {
        match self {
            Self::Desktop => "notify",
            Self::Sound => "sound",
        }
    }

    /// Whether the person chose it for a kind. None is chosen at first.
    pub(crate) fn is_on(self, kind: Kind) -> bool {
        let storage = storage();
        storage.and_then(|storage| storage.get_item(&self.key(kind)).ok()?).is_some()
    }

    pub(crate) fn choose(self, kind: Kind, on: bool) {
        let Some(storage) = storage() else { return };
        let _stored = if on { storage.set_item(&self.key(kind), "on") } else { storage.remove_item(&self.key(kind)) };
    }

    fn key(self, kind: Kind) -> String {
        format!("{}/{}", self.name(), kind.name())
    }
}

/// Whether the browser may show notifications.
pub(crate) fn may_notify() -> bool {
    Notification::permission() == NotificationPermission::Granted
}

/// Asks the person whether the browser may show notifications.
pub(crate) fn request_permission() {
    let _asked = Notification::request_permission();
}

/// Follows what needs the person, for as long as the current owner lives.
pub(crate) fn follow(overview: Overview) {
    let list = overview.needs_you.watch().value;
    Effect::new(move |known: Option<Option<HashSet<String>>>| {
        let items = list.with(|list| list.as_ref().map(|list| list.items.clone()));
        let Some(items) = items else { return known.flatten() };
        show_mark(!items.is_empty());
        // Decisions that waited before the page opened are no news.
        if let Some(known) = known.flatten() {
            announce(items.iter().filter(|item| !known.contains(&identity(item))));
        }
        Some(items.iter().map(identity).collect())
    });
}

/// The title of the page in the tab, after the number of decisions over all projects.
pub(crate) fn tab_title(title: impl Fn() -> String + 'static) {
    let overview = Overview::from_context();
    Effect::new(move || {
        let count = overview.needs_you_count();
        let mark = if count > 0 { format!("({count}) ") } else { String::new() };
        let title = title();
        let separator = if title.is_empty() { "" } else { " · " };
        document().set_title(&format!("{mark}{title}{separator}vibe-relay"));
    });
}

/// Differs between two decisions, also about the same task.
fn identity(item: &NeedsYouItem) -> String {
    let task = item.task_id.as_ref().map_or("", |task| task.as_str());
    let project = item.project_id.as_ref().map_or("", |project| project.as_str());
    format!("{}/{project}/{task}/{}", Kind::of(&item.decision).name(), item.since)
}

fn announce<'a>(news: impl Iterator<Item = &'a NeedsYouItem>) {
    let mut sounds = false;
    for item in news {
        let kind = Kind::of(&item.decision);
        sounds = sounds || Channel::Sound.is_on(kind);
        if Channel::Desktop.is_on(kind) && may_notify() && document().hidden() {
            let options = NotificationOptions::new();
            options.set_body(&[item.project_title.as_deref(), item.task_title.as_deref()].map(Option::unwrap_or_default).join("\n"));
            options.set_tag(&identity(item));
            let _shown = Notification::new_with_options(kind.label(), &options);
        }
    }
    if sounds {
        let _unavailable = chime();
    }
}

/// A short tone.
fn chime() -> Result<(), leptos::wasm_bindgen::JsValue> {
    const SECONDS: f64 = 0.25;
    let context = AudioContext::new()?;
    let (tone, volume) = (context.create_oscillator()?, context.create_gain()?);
    tone.frequency().set_value(660.0);
    volume.gain().set_value(0.08);
    volume.gain().exponential_ramp_to_value_at_time(0.001, context.current_time() + SECONDS)?;
    tone.connect_with_audio_node(&volume)?.connect_with_audio_node(&context.destination())?;
    tone.start()?;
    tone.stop_with_when(context.current_time() + SECONDS)
}

/// Adds a mark to the icon of the tab, or removes it.
fn show_mark(is_marked: bool) {
    let Some(icon) = document().query_selector("link[rel=icon]").ok().flatten() else { return };
    let wanted = icon.get_attribute(if is_marked { "data-marked" } else { "data-plain" });
    if let Some(wanted) = wanted.filter(|wanted| icon.get_attribute("href").as_ref() != Some(wanted)) {
        let _set = icon.set_attribute("href", &wanted);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn kinds_have_distinct_names() {
        let names: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let labels: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.label()).collect();
        assert_eq!((names.len(), labels.len()), (Kind::ALL.len(), Kind::ALL.len()));
    }
}
