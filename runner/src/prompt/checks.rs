//! The part of a prompt about the checks of a project: those that will judge the work of a coder, and their results for a reviewer.
//!
//! A project without checks adds nothing.

use domain::prompt::{Prompt, Prompts};
use domain::runs::check::{CheckStage, StageResults};
use domain::runs::profile::checks::Checks;

/// Names the commands that will judge the work of a coder.
pub(super) fn announced(prompts: &Prompts, checks: &Checks) -> String {
    let named = |commands: &[String], what: &str| {
        let list = commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", ");
        (!commands.is_empty()).then(|| format!("{what}: {list}"))
    };
    let stages = [named(&checks.quick.commands, "before the review"), named(&checks.full.commands, "on the merge")];
    let commands: Vec<String> = stages.into_iter().flatten().collect();
    if commands.is_empty() {
        return String::new();
    }
    prompts.text(Prompt::CoderChecks).trim_end().replace("{commands}", &commands.join("; "))
}

/// Lists the results of the commit `sha`.
pub(super) fn results(prompts: &Prompts, stages: &[StageResults], sha: Option<&str>) -> String {
    let stage = stages.iter().find(|stage| stage.checks.stage == CheckStage::Quick && Some(stage.checks.sha.as_str()) == sha);
    let results = stage.map(|stage| stage.results.as_slice()).unwrap_or_default();
    if results.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = results.iter().map(|result| format!("`{}` {}", result.command, result.sentence())).collect();
    prompts.text(Prompt::ReviewerChecks).trim_end().replace("{results}", &lines.join(", "))
}

#[cfg(test)]
mod tests {
    use domain::runs::check::{CheckOutcome, CheckResult, CheckState, TaskChecks};
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn coder_is_told_the_commands_of_both_stages() {
        let mut checks = Checks::default();
        assert_eq!(announced(&Prompts::default(), &checks), "");
        checks.full.commands = vec!["npm run e2e".to_owned()];
        assert_eq!(announced(&Prompts::default(), &checks), "on the merge: `npm run e2e`. Run them before step 6");
        checks.quick.commands = vec!["npm test".to_owned(), "npm run lint".to_owned()];
        assert_eq!(
            announced(&Prompts::default(), &checks),
            "before the review: `npm test`, `npm run lint`; on the merge: `npm run e2e`. Run them before step 6"
        );
    }

    #[test]
    fn reviewer_is_told_the_results_of_its_own_commit() {
        let checks =
            TaskChecks { stage: CheckStage::Quick, state: CheckState::Passed, sha: "head".to_owned(), tree: "tree".to_owned(), profile_version: 1 };
        let result = CheckResult {
            id: 1,
            command: "npm test".to_owned(),
            outcome: CheckOutcome::Passed,
            attempts: 1,
            duration_ms: 12_000,
            tail: "a lot".to_owned(),
            ended_at: Timestamp::from_milliseconds(0),
        };
        let stages = [StageResults { checks, results: vec![result] }];
        assert_eq!(results(&Prompts::default(), &stages, Some("head")), "already run on this commit: `npm test` passed after 12 s");
        assert_eq!(results(&Prompts::default(), &stages, Some("newer")), "");
        assert_eq!(results(&Prompts::default(), &[], Some("head")), "");
    }
}
