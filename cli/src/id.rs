//! Ids as people type them: `4`, `#4`, `task-4` and `TASK-004` name the same task. Must not know what exists.

use domain::id::{InvalidId, ProjectId, TaskId};

/// Reads the id of a task.
///
/// # Errors
/// When it is neither a number nor an id.
pub(crate) fn task(given: &str) -> Result<TaskId, InvalidId> {
    number(given, TaskId::PREFIX).map_or_else(|| given.parse(), |number| Ok(TaskId::new(number)))
}

/// Reads the id of a project.
///
/// # Errors
/// When it is neither a number nor an id.
pub(crate) fn project(given: &str) -> Result<ProjectId, InvalidId> {
    number(given, ProjectId::PREFIX).map_or_else(|| given.parse(), |number| Ok(ProjectId::new(number)))
}

/// The number of an id, with or without its prefix in any case.
fn number(given: &str, prefix: &str) -> Option<u64> {
    let digits = match given.split_once('-') {
        Some((word, digits)) if word.eq_ignore_ascii_case(prefix) => digits,
        Some(_) => return None,
        None => given.strip_prefix('#').unwrap_or(given),
    };
    let is_number = (1..=12).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_with_or_without_prefix_names_a_task() {
        for given in ["4", "#4", "004", "task-4", "TASK-004", "Task-04"] {
            assert_eq!(task(given), Ok(TaskId::new(4)), "{given}");
        }
        assert_eq!(project("12"), Ok(ProjectId::new(12)));
        for wrong in ["", "0", "PROJ-004", "TASK-", "-4", "4x", "1234567890123", "TASK--4", "TASK-٤", "#", "##4", "task-#4"] {
            assert!(task(wrong).is_err(), "{wrong}");
        }
    }
}
