//! How much of its context a task will cost an agent, so that an agent with little left gets light tasks only.
//!
//! A guess from the plan of the task. Must not know how context is measured.

pub mod refusal;

use self::refusal::WorkloadRefusal;
use crate::board::planned_files::PlannedFiles;
use crate::team::agent::Agent;
use crate::vocabulary::vocabulary;
use crate::warroom::context_left::Condition;

/// The most planned files of a light task.
const MAX_LIGHT_FILES: usize = 2;
/// The longest description of a light task without planned files, in bytes.
const MAX_LIGHT_BYTES: usize = 600;

vocabulary! {
    /// How much a task will cost.
    Workload, "workload" {
        /// One or two files, or a few sentences if no files are planned.
        Light = "light",
        Heavy = "heavy",
    }
}

impl Workload {
    /// The workload of a task. A folder or a pattern is more than two files.
    pub fn of(files: &PlannedFiles, description: Option<&str>) -> Self {
        let is_light = if files.is_empty() {
            description.unwrap_or_default().len() <= MAX_LIGHT_BYTES
        } else {
            files.paths().len() <= MAX_LIGHT_FILES && files.paths().iter().all(|path| !path.is_glob())
        };
        if is_light { Self::Light } else { Self::Heavy }
    }
}

/// Warns about a task that is assigned to an agent.
///
/// # Errors
/// When less than a quarter of its context is left.
pub fn check(agent: &Agent, workload: Workload) -> Result<Option<String>, WorkloadRefusal> {
    let Some(left) = agent.context_left else { return Ok(None) };
    let name = &agent.name;
    match (left.condition, workload) {
        (Condition::Critical, _) => Err(WorkloadRefusal::ContextUsedUp { agent: name.clone(), percent: left.percent }),
        (Condition::Wounded, Workload::Heavy) => Ok(Some(format!(
            "WARNING: {name} has {} % of its context left, which is enough for light tasks only, and this one is large. Split it, or assign it to a \
             fresh agent.",
            left.percent
        ))),
        (Condition::Wounded, Workload::Light) | (Condition::Healthy, _) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_or_few_words_are_light() {
        let of = |files: &[&str], description: Option<&str>| {
            let files: Vec<String> = files.iter().map(|path| (*path).to_owned()).collect();
            Workload::of(&PlannedFiles::parse(&files).unwrap(), description)
        };
        let long = "x".repeat(MAX_LIGHT_BYTES + 1);
        for light in [of(&[], None), of(&[], Some(&long[1..])), of(&["a.rs"], None), of(&["a.rs", "b.rs"], Some(&long))] {
            assert_eq!(light, Workload::Light);
        }
        for heavy in [of(&[], Some(&long)), of(&["a.rs", "b.rs", "c.rs"], None), of(&["src/"], None), of(&["src/*.rs"], Some("x"))] {
            assert_eq!(heavy, Workload::Heavy);
        }
    }
}
