//! The order in which the open tasks of a column start: by priority, and among equal ones by place. A person puts a task into another place.
//!
//! Must not know how a place is stored.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::id::TaskId;

/// The distance between tasks that nobody moved. The places of two million tasks are exact in JavaScript.
const STEP: i64 = 1 << 32;

/// `POST /api/tasks/{id}/reorder`: where a person puts a task, which is before or after another one of its column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlace {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TaskId>,
}

/// The place that a task gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedTask {
    pub task: TaskId,
    pub priority: i64,
    pub position: i64,
}

/// The place of a task that nobody moved.
pub fn initial_position(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(STEP)
}

/// Compares tasks in the order in which they start.
pub fn start_order(card: &Card) -> (Reverse<i64>, i64, u64) {
    (Reverse(card.priority), position(card), card.id.number())
}

fn position(card: &Card) -> i64 {
    card.position.unwrap_or_else(|| initial_position(card.id.number()))
}

/// Puts `moved` into the column at `index`. `column` is in order and lacks it. `next` is the initial position of the next new task.
///
/// The task keeps its priority unless its neighbours exclude it. The others change only if no position is left between two of them.
pub fn place(column: &[Card], moved: &Card, index: usize, next: i64) -> Vec<PlacedTask> {
    let (above, below) = (index.checked_sub(1).and_then(|index| column.get(index)), column.get(index));
    let least = below.map_or(i64::MIN, |below| below.priority);
    let most = above.map_or(i64::MAX, |above| above.priority);
    let priority = moved.priority.clamp(least, most.max(least));
    let is_peer = |card: &&Card| card.priority == priority;
    let high = below.filter(is_peer).map_or(next, position);
    let between = match above.filter(is_peer).map(position) {
        None => Some(high.saturating_sub(STEP)),
        Some(low) => Some(low + (high - low) / 2).filter(|between| *between > low && *between < high),
    };
    if let Some(position) = between {
        return vec![PlacedTask { task: moved.id.clone(), priority, position }];
    }
    let mut peers: Vec<&Card> = column[..index].iter().filter(is_peer).collect();
    peers.push(moved);
    peers.extend(column[index..].iter().filter(is_peer));
    let first = peers.first().filter(|first| first.id != moved.id).map_or(next - STEP, |first| position(first));
    let distance = (next - first) / i64::try_from(peers.len()).unwrap_or(i64::MAX);
    let spread = peers.iter().zip((0..).map(|place| first + place * distance));
    spread.map(|(card, position)| PlacedTask { task: card.id.clone(), priority, position }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::project::tests::card;
    use crate::board::status::Status;
    use crate::runs::agent_kind::AgentKind;

    fn todo(number: u64, priority: i64) -> Card {
        Card { priority, ..card(number, AgentKind::Coder, Status::Backlog) }
    }

    fn order(cards: &[Card]) -> Vec<u64> {
        cards.iter().map(|card| card.id.number()).collect()
    }

    /// Puts a task at `index` of the remaining column, as the store does. Returns how many tasks changed.
    fn put(cards: &mut Vec<Card>, number: u64, index: usize, next: u64) -> usize {
        let moved = cards.remove(cards.iter().position(|card| card.id.number() == number).unwrap());
        let placed = place(cards, &moved, index, initial_position(next));
        cards.push(moved);
        for placed in &placed {
            let card = cards.iter_mut().find(|card| card.id == placed.task).unwrap();
            (card.priority, card.position) = (placed.priority, Some(placed.position));
        }
        cards.sort_by_key(start_order);
        placed.len()
    }

    #[test]
    fn task_gets_the_place_between_its_new_neighbours() {
        let mut cards = vec![todo(1, 0), todo(2, 0), todo(3, 0)];
        assert_eq!(put(&mut cards, 3, 0, 4), 1);
        assert_eq!(order(&cards), [3, 1, 2]);
        put(&mut cards, 3, 1, 4);
        assert_eq!(order(&cards), [1, 3, 2]);
        put(&mut cards, 1, 2, 4);
        assert_eq!(order(&cards), [3, 2, 1]);
        cards.push(todo(4, 0));
        cards.sort_by_key(start_order);
        assert_eq!(order(&cards), [3, 2, 1, 4], "a new task comes last");
    }

    #[test]
    fn task_keeps_its_priority_where_its_neighbours_allow_it() {
        let mut cards = vec![todo(1, 5), todo(2, 5), todo(3, 0), todo(4, 0)];
        put(&mut cards, 4, 1, 5);
        assert_eq!((order(&cards), cards[1].priority), (vec![1, 4, 2, 3], 5));
        put(&mut cards, 1, 3, 5);
        assert_eq!((order(&cards), cards[3].priority), (vec![4, 2, 3, 1], 0));
        let mut cards = vec![todo(1, 5), todo(2, 1), todo(3, 0)];
        put(&mut cards, 3, 1, 4);
        assert_eq!((order(&cards), cards[1].priority), (vec![1, 3, 2], 1));
        put(&mut cards, 3, 2, 4);
        assert_eq!((order(&cards), cards[2].priority), (vec![1, 2, 3], 1), "both fit");
    }

    #[test]
    fn places_never_run_out() {
        let mut cards: Vec<Card> = (1..=6).map(|number| todo(number, 0)).collect();
        let mut changed = Vec::new();
        for turn in 0..200 {
            let last = cards[5].id.number();
            changed.push(put(&mut cards, last, 1, 7));
            assert_eq!(cards[1].id.number(), last, "turn {turn}");
        }
        assert!(changed.contains(&6) && changed.iter().filter(|count| **count > 1).count() < 10, "{changed:?}");
        assert!(cards.iter().all(|card| position(card) < initial_position(7)));
    }
}
