//! Saved views: filters and groupings of a board under names. This browser stores them, for each project.
//!
//! Must not know what a filter does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::filter::Filter;
use crate::storage::storage;

const PREFIX: &str = "views/";
/// More would not fit into a menu.
const MAX_VIEWS: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SavedView {
    pub(crate) name: String,
    pub(crate) filter: Filter,
}

/// A view in the storage: its name, and the filter as it is in the address.
#[derive(Serialize, Deserialize)]
struct StoredView {
    name: String,
    parameters: BTreeMap<String, String>,
}

/// The views of a board, whose id is `board`.
pub(crate) fn load(board: &str) -> Vec<SavedView> {
    storage().and_then(|storage| storage.get_item(&format!("{PREFIX}{board}")).ok()?).map(|text| parse(&text)).unwrap_or_default()
}

/// Stores the views. Without storage they last until the page is closed.
pub(crate) fn store(board: &str, views: &[SavedView]) {
    let key = format!("{PREFIX}{board}");
    let _stored = storage().map(|storage| if views.is_empty() { storage.remove_item(&key) } else { storage.set_item(&key, &format(views)) });
}

/// The views with one more, which replaces one of the same name. The oldest of too many goes.
pub(crate) fn with(mut views: Vec<SavedView>, view: SavedView) -> Vec<SavedView> {
    match views.iter_mut().find(|known| known.name == view.name) {
        Some(known) => *known = view,
        None => views.push(view),
    }
    let surplus = views.len().saturating_sub(MAX_VIEWS);
    views.drain(..surplus);
    views
}

fn parse(text: &str) -> Vec<SavedView> {
    let stored: Vec<StoredView> = serde_json::from_str(text).unwrap_or_default();
    let view = |view: StoredView| SavedView { filter: Filter::of_parameters(|name| view.parameters.get(name).cloned()), name: view.name };
    stored.into_iter().map(view).collect()
}

fn format(views: &[SavedView]) -> String {
    let stored = |view: &SavedView| {
        let parameters = view.filter.parameters().into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        StoredView { name: view.name.clone(), parameters: parameters.collect() }
    };
    serde_json::to_string(&views.iter().map(stored).collect::<Vec<_>>()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Facet;
    use crate::grouping::Grouping;

    fn view(name: &str, words: &str) -> SavedView {
        SavedView { name: name.to_owned(), filter: Filter { words: words.to_owned(), ..Filter::default() } }
    }

    #[test]
    fn saved_views_round_trip_through_the_storage() {
        let both = Filter { words: "login page".to_owned(), facet: Some(Facet::AtWork), group: Some(Grouping::Goal) };
        let views = vec![view("Mine", "mara"), SavedView { name: "\"Busy\"".to_owned(), filter: both }];
        assert_eq!(parse(&format(&views)), views);
        assert_eq!((parse("not json"), parse("[]")), (Vec::new(), Vec::new()));
    }

    #[test]
    fn view_replaces_one_of_the_same_name() {
        let views = with(with(vec![view("one", "a")], view("two", "b")), view("one", "c"));
        assert_eq!(views, [view("one", "c"), view("two", "b")]);
        let many = (0..20).fold(Vec::new(), |views, number| with(views, view(&number.to_string(), "")));
        assert_eq!((many.len(), many[0].name.as_str()), (MAX_VIEWS, "8"));
    }
}
