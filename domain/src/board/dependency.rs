//! Dependencies between tasks, and the search for cycles.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::TaskId;
use crate::refusal::category::refusals;

/// Returns a cycle among `edges` (task → the tasks it depends on) with the first task repeated at the end, or none.
pub fn cycle(edges: &BTreeMap<TaskId, Vec<TaskId>>) -> Option<Vec<TaskId>> {
    let mut finished = BTreeSet::new();
    for start in edges.keys() {
        // The path from `start`: each task with the index of its next edge.
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
                    if let Some(index) = path.iter().position(|(on_path, _)| *on_path == target) {
                        let mut cycle: Vec<TaskId> = path[index..].iter().map(|(on_path, _)| (*on_path).clone()).collect();
                        cycle.push(target.clone());
                        return Some(cycle);
                    }
                    path.push((target, 0));
                }
            }
        }
    }
    None
}

refusals! {
    /// Why a task may not start, or may not depend on others.
    DependencyRefusal {
        #[error("{task} depends on unfinished tasks: {}", open.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))]
        Unfinished { task: TaskId, open: Vec<TaskId> } => Unprocessable "dependencies-open",
        #[error("the dependencies form a cycle: {}", cycle.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" → "))]
        Cycle { cycle: Vec<TaskId> } => Unprocessable "dependency-circle",
    }
}

impl DependencyRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unfinished { .. } => "Wait until they are done, or remove the dependency.".to_owned(),
            Self::Cycle { .. } => "Remove one of these dependencies.".to_owned(),
        }
    }
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
    fn cycle_is_returned_in_order() {
        let found = cycle(&edges(&[(1, 2), (2, 3), (3, 1), (4, 1)])).unwrap();
        assert_eq!(found, [TaskId::new(1), TaskId::new(2), TaskId::new(3), TaskId::new(1)]);
        assert_eq!(cycle(&edges(&[(1, 1)])).unwrap().len(), 2);
    }

    proptest! {
        #[test]
        fn edges_to_lower_ids_have_no_cycle(list in prop::collection::vec((2u64..40, 1u64..40), 0..80)) {
            let backward: Vec<(u64, u64)> = list.into_iter().filter(|(from, to)| to < from).collect();
            prop_assert_eq!(cycle(&edges(&backward)), None);
        }
    }
}
