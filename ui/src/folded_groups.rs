//! The groups of a board whose cards are hidden. This browser stores them, for each project.
//!
//! Must not know how a group is drawn.

use leptos::prelude::*;

use crate::grouping::Grouping;
use crate::storage::storage;

const PREFIX: &str = "folded/";
/// The group that was folded first is unfolded for one more.
const MAX_FOLDED: usize = 200;

#[derive(Clone, Copy)]
pub(crate) struct FoldedGroups {
    /// The id of the board.
    board: StoredValue<String>,
    folded: RwSignal<Vec<String>>,
}

impl FoldedGroups {
    /// Reads the folded groups of a board, and makes them available below the current owner.
    pub(crate) fn provide(board: String) -> Self {
        let stored = storage().and_then(|storage| storage.get_item(&format!("{PREFIX}{board}")).ok()?);
        let groups = Self { board: StoredValue::new(board), folded: RwSignal::new(parse(&stored.unwrap_or_default())) };
        provide_context(groups);
        groups
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Whether the cards of a group are hidden. The cards without a group are one, too.
    pub(crate) fn has(self, grouping: Grouping, group: Option<&str>) -> bool {
        let name = name(grouping, group);
        self.folded.with(|folded| folded.contains(&name))
    }

    /// Hides or shows the cards of a group. Without storage, that lasts until the page is closed.
    pub(crate) fn toggle(self, grouping: Grouping, group: Option<&str>) {
        let name = name(grouping, group);
        self.folded.update(|folded| toggle(folded, name));
        let (key, text) = (self.board.with_value(|board| format!("{PREFIX}{board}")), self.folded.with_untracked(|folded| format(folded)));
        let _stored = storage().map(|storage| if text.is_empty() { storage.remove_item(&key) } else { storage.set_item(&key, &text) });
    }
}

fn name(grouping: Grouping, group: Option<&str>) -> String {
    format!("{}/{}", grouping.name(), group.unwrap_or_default())
}

fn toggle(folded: &mut Vec<String>, name: String) {
    match folded.iter().position(|known| *known == name) {
        Some(at) => _ = folded.remove(at),
        None => folded.push(name),
    }
    let surplus = folded.len().saturating_sub(MAX_FOLDED);
    folded.drain(..surplus);
}

/// Names have no spaces: they are made of ids.
fn parse(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn format(folded: &[String]) -> String {
    folded.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_folded_and_unfolded_by_name() {
        let (plan, none) = (name(Grouping::Plan, Some("TASK-001")), name(Grouping::Goal, None));
        let mut folded = Vec::new();
        toggle(&mut folded, plan.clone());
        toggle(&mut folded, none.clone());
        assert_eq!(parse(&format(&folded)), [plan.as_str(), none.as_str()], "they are stored in their order");
        toggle(&mut folded, plan);
        assert_eq!(folded, [none]);
        assert_eq!((parse(""), format(&[])), (Vec::<String>::new(), String::new()));
    }

    #[test]
    fn groups_folded_long_ago_are_unfolded() {
        let mut folded = Vec::new();
        (0..MAX_FOLDED + 3).for_each(|number| toggle(&mut folded, number.to_string()));
        assert_eq!((folded.len(), folded[0].as_str()), (MAX_FOLDED, "3"));
    }
}
