//! The progress bar of a goal: verified tasks, and done tasks beyond those. A label beside it gives the numbers.

use domain::board::goal::Progress;
use domain::id::GoalId;
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::project_data::ProjectData;

/// The progress of a goal as the server counts it, because the board may not have loaded all finished cards.
pub(crate) fn progress_of(id: GoalId) -> Memo<Progress> {
    let goals = ProjectData::from_context().goals.value;
    Memo::new(move |_| goals.with(|goals| goals.as_ref()?.iter().find(|goal| goal.id == id).map(|goal| goal.progress)).unwrap_or_default())
}

#[component]
pub(crate) fn GoalBar(progress: Memo<Progress>) -> impl IntoView {
    let width = move |part: fn(Progress) -> u32| format!("{}%", percent(part(progress.get()), progress.get().linked));
    view! {
        <span class="progress" aria-hidden="true">
            <i data-tone=Tone::Good.as_str() style:width=move || width(|progress| progress.verified)></i>
            <i data-tone=Tone::Info.as_str() style:width=move || width(|progress| progress.completed.saturating_sub(progress.verified))></i>
        </span>
    }
}

fn percent(part: u32, of: u32) -> u32 {
    (100 * part).checked_div(of).unwrap_or(0).min(100)
}

#[cfg(test)]
mod tests {
    #[test]
    fn percent_of_zero_is_zero() {
        assert_eq!([super::percent(0, 0), super::percent(1, 3), super::percent(3, 3)], [0, 33, 100]);
    }
}
