//! The goals above the board: the progress of each, and a click that filters the board by goal.

use domain::board::goal::{Goal, GoalStatus};
use leptos::prelude::*;

use crate::components::badge::{goal_badge, progress_label};
use crate::components::board::goal_bar::{GoalBar, progress_of};
use crate::filter::Filter;
use crate::project_data::ProjectData;

#[component]
pub(crate) fn GoalStrip(
    /// The filter of the board. The id of a goal shows only its tasks.
    filter: RwSignal<Filter>,
) -> impl IntoView {
    let data = ProjectData::from_context();
    let goals = Memo::new(move |_| shown(data.goals.value.get().unwrap_or_default()));
    view! {
        <Show when=move || !goals.with(Vec::is_empty)>
            <div class="goal-strip" role="group" aria-label="Goals">
                <For each=move || goals.get() key=|goal| (goal.id.clone(), goal.status, goal.title.clone()) let:goal>
                    <GoalChip goal=goal filter=filter />
                </For>
            </div>
        </Show>
    }
}

/// The goals that are not verified, or all goals if every one is verified.
fn shown(goals: Vec<Goal>) -> Vec<Goal> {
    let open: Vec<Goal> = goals.iter().filter(|goal| goal.status != GoalStatus::Verified).cloned().collect();
    if open.is_empty() { goals } else { open }
}

#[component]
fn GoalChip(goal: Goal, filter: RwSignal<Filter>) -> impl IntoView {
    let progress = progress_of(goal.id.clone());
    let (label, tone) = goal_badge(goal.status);
    let id = StoredValue::new(goal.id.to_string());
    let chosen = Memo::new(move |_| filter.with(|filter| id.with_value(|id| filter.words.trim() == id)));
    let choose = move |_| filter.update(|filter| filter.words = if chosen.get_untracked() { String::new() } else { id.get_value() });
    view! {
        <button type="button" class="goal-chip" data-tone=tone.as_str() aria-pressed=move || chosen.get().to_string() on:click=choose>
            <span class="goal-title">{goal.title}</span>
            <GoalBar progress=progress />
            <span class="faint tabular">{move || format!("{label} · {}", progress_label(progress.get()))}</span>
        </button>
    }
}

#[cfg(test)]
mod tests {
    use domain::board::goal::Progress;
    use domain::id::{GoalId, ProjectId};
    use domain::time::Timestamp;

    use super::*;

    fn goal(number: u64, status: GoalStatus) -> Goal {
        Goal {
            id: GoalId::new(number),
            project_id: ProjectId::new(1),
            title: String::new(),
            description: None,
            status,
            creator: "human".to_owned(),
            verified_by: None,
            notes: None,
            progress: Progress::default(),
            created_at: Timestamp::from_milliseconds(0),
            verified_at: None,
        }
    }

    #[test]
    fn verified_goals_are_hidden() {
        let (open, verified) = (goal(1, GoalStatus::Open), goal(2, GoalStatus::Verified));
        assert_eq!(shown(vec![open.clone(), verified.clone()]), [open]);
        assert_eq!(shown(vec![verified.clone()]), [verified]);
    }
}
