//! Dependencies between tasks: which wait, and whether the edges make a circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::TaskId;

/// A circle among `edges` (task → the tasks it depends on), first task repeated at the end; none when there is an order.
pub fn cycle(edges: &BTreeMap<TaskId, Vec<TaskId>>) -> Option<Vec<TaskId>> {
    let mut finished = BTreeSet::new();
    for start in edges.keys() {
        // The path from `start`, each task with the place of the next edge to follow.
        let mut path: Vec<(&TaskId, usize)> = vec![(start, 0)];
        while let Some((task, next)) = path.last_mut() {
            let following = if finished.contains(*task) { None } else { edges.get(*task).and_then(|to| to.get(*next)) };
            *next += 1;
            match following {
                None => {
                    finished.insert((*task).clone());
                    path.pop();
                }
                Some(target) => {
                    if let Some(place) = path.iter().position(|(on_path, _)| *on_path == target) {
                        let mut circle: Vec<TaskId> = path[place..].iter().map(|(on_path, _)| (*on_path).clone()).collect();
                        circle.push(target.clone());
                        return Some(circle);
                    }
                    path.push((target, 0));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edges(list: &[(u64, u64)]) -> BTreeMap<TaskId, Vec<TaskId>> {
        let mut edges: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
        for (from, to) in list {
            edges.entry(TaskId::new(*from)).or_default().push(TaskId::new(*to));
        }
        edges
    }

    #[test]
    fn a_circle_is_named_in_order() {
        let circle = cycle(&edges(&[(1, 2), (2, 3), (3, 1), (4, 1)])).unwrap();
        assert_eq!(circle, [TaskId::new(1), TaskId::new(2), TaskId::new(3), TaskId::new(1)]);
        assert_eq!(cycle(&edges(&[(1, 1)])).unwrap().len(), 2);
    }

    proptest! {
        #[test]
        fn edges_that_only_point_back_have_an_order(list in prop::collection::vec((2u64..40, 1u64..40), 0..80)) {
            let back: Vec<(u64, u64)> = list.into_iter().filter(|(from, to)| to < from).collect();
            prop_assert_eq!(cycle(&edges(&back)), None);
        }
    }
}
