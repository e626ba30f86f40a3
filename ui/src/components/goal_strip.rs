//! The goals above the board: how far each is, and a click that shows its tasks alone.

use domain::board::goal::{Goal, GoalStatus};
use leptos::prelude::*;

use crate::components::badge::among::{goal_look, progress_word};
use crate::components::progress::{GoalBar, of_goal};
use crate::room::Room;
use crate::store::Store;

#[component]
pub(crate) fn GoalStrip(
    /// The filter of the board: a goal's id in it shows the goal's tasks.
    query: RwSignal<String>,
) -> impl IntoView {
    let room = Room::here();
    let goals = Memo::new(move |_| shown(room.goals.value.get().unwrap_or_default()));
    view! {
        <Show when=move || !goals.with(Vec::is_empty)>
            <div class="goal-strip" role="group" aria-label="Goals">
                <For each=move || goals.get() key=|goal| (goal.id.clone(), goal.status, goal.title.clone()) let:goal>
                    <GoalChip goal=goal query=query />
                </For>
            </div>
        </Show>
    }
}

/// Goals that are not signed off yet; when all are, all of them.
fn shown(goals: Vec<Goal>) -> Vec<Goal> {
    let open: Vec<Goal> = goals.iter().filter(|goal| goal.status != GoalStatus::Verified).cloned().collect();
    if open.is_empty() { goals } else { open }
}

#[component]
fn GoalChip(goal: Goal, query: RwSignal<String>) -> impl IntoView {
    let progress = of_goal(Store::here(), &goal);
    let (word, tone) = goal_look(goal.status);
    let id = StoredValue::new(goal.id.to_string());
    let chosen = Memo::new(move |_| query.with(|query| id.with_value(|id| query.trim() == id)));
    let choose = move |_| query.set(if chosen.get_untracked() { String::new() } else { id.get_value() });
    view! {
        <button type="button" class="goal-chip" data-tone=tone.as_str() aria-pressed=move || chosen.get().to_string() on:click=choose>
            <span class="goal-title">{goal.title}</span>
            <GoalBar progress=progress />
            <span class="faint tabular">{move || format!("{word} · {}", progress_word(progress.get()))}</span>
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
    fn what_is_signed_off_makes_room_for_what_is_not() {
        let (open, verified) = (goal(1, GoalStatus::Open), goal(2, GoalStatus::Verified));
        assert_eq!(shown(vec![open.clone(), verified.clone()]), [open]);
        assert_eq!(shown(vec![verified.clone()]), [verified]);
    }
}
