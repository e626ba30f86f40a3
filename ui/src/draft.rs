//! Drafts: typed text that survives a closed panel, a closed dialog and a reload, until it is sent or discarded.
//!
//! Must not know what a text is for. The browser stores each draft below a key that names its place.

use std::time::Duration;

use domain::time::Timestamp;
use leptos::prelude::*;

use crate::storage::storage;
use crate::time::now;

const PREFIX: &str = "draft/";
/// Drafts that nobody came back to are removed after this time.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);

/// The text of a field that keeps its draft below `key`. An empty text removes the draft.
pub(crate) fn draft(key: &str) -> RwSignal<String> {
    draft_from(key, String::new())
}

/// The text of a field that begins with `original`, or with the draft of an earlier edit. The text counts as a draft while it differs.
pub(crate) fn draft_from(key: &str, original: String) -> RwSignal<String> {
    let key = format!("{PREFIX}{key}");
    let stored = storage().and_then(|storage| storage.get_item(&key).ok()?).and_then(|entry| Some(parse(&entry)?.1.to_owned()));
    let text = RwSignal::new(stored.unwrap_or_else(|| original.clone()));
    Effect::new(move || {
        let Some(storage) = storage() else { return };
        // Without room in the storage, the text lasts as long as its field.
        text.with(|text| {
            let _stored = if text.is_empty() || *text == original {
                storage.remove_item(&key)
            } else {
                storage.set_item(&key, &format!("{}\n{text}", now().milliseconds()))
            };
        });
    });
    text
}

/// Stores a text as the draft below `key`, for a field that opens later.
pub(crate) fn store_draft(key: &str, text: &str) {
    if let Some(storage) = storage() {
        let _stored = storage.set_item(&format!("{PREFIX}{key}"), &format!("{}\n{text}", now().milliseconds()));
    }
}

/// Removes the draft below `key`, after its text was sent.
pub(crate) fn discard(key: &str) {
    if let Some(storage) = storage() {
        let _removed = storage.remove_item(&format!("{PREFIX}{key}"));
    }
}

/// Removes old drafts.
pub(crate) fn remove_expired() {
    let Some(storage) = storage() else { return };
    let keys: Vec<String> = (0..storage.length().unwrap_or_default()).filter_map(|index| storage.key(index).ok()?).collect();
    for key in keys.into_iter().filter(|key| key.starts_with(PREFIX)) {
        let entry = storage.get_item(&key).ok().flatten().unwrap_or_default();
        if parse(&entry).is_none_or(|(at, _)| is_expired(at, now())) {
            let _removed = storage.remove_item(&key);
        }
    }
}

/// The time and the text of an entry.
fn parse(entry: &str) -> Option<(Timestamp, &str)> {
    let (at, text) = entry.split_once('\n')?;
    Some((Timestamp::from_milliseconds(at.parse().ok()?), text))
}

fn is_expired(at: Timestamp, now: Timestamp) -> bool {
    now.since(at) > RETENTION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_has_a_time_and_a_text_of_any_lines() {
        let at = Timestamp::from_milliseconds(1_769_850_300_000);
        assert_eq!(parse("1769850300000\none\n\ntwo"), Some((at, "one\n\ntwo")));
        assert_eq!((parse("no time\ntext"), parse("text")), (None, None));
    }

    #[test]
    fn draft_expires_after_thirty_days() {
        let now = Timestamp::from_milliseconds(1_769_850_300_000);
        assert!(!is_expired(now.before(RETENTION), now));
        assert!(is_expired(now.before(RETENTION + Duration::from_secs(1)), now));
    }
}
