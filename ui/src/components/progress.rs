//! How far a goal is, as a bar: verified, and done beyond that. The words beside it say the same.

use domain::board::goal::{Goal, Progress};
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::store::Store;

/// Follows the cards of a goal, which are newer than what was read of it.
pub(crate) fn of_goal(store: Store, goal: &Goal) -> Memo<Progress> {
    let id = goal.id.clone();
    Memo::new(move |_| store.follow_cards(|cards| Progress::of(cards.iter().filter(|card| card.goal_id.as_ref() == Some(&id)))))
}

#[component]
pub(crate) fn GoalBar(progress: Memo<Progress>) -> impl IntoView {
    let part = move |part: fn(Progress) -> u32| format!("{}%", percent(part(progress.get()), progress.get().linked));
    view! {
        <span class="progress" aria-hidden="true">
            <i data-tone=Tone::Good.as_str() style:width=move || part(|progress| progress.verified)></i>
            <i data-tone=Tone::Info.as_str() style:width=move || part(|progress| progress.completed.saturating_sub(progress.verified))></i>
        </span>
    }
}

fn percent(part: u32, of: u32) -> u32 {
    (100 * part).checked_div(of).unwrap_or(0).min(100)
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_of_nothing_are_nothing() {
        assert_eq!([super::percent(0, 0), super::percent(1, 3), super::percent(3, 3)], [0, 33, 100]);
    }
}
