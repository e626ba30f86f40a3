//! One check of `doctor`: its result as a line, and what to do as a line of its own. Must not know what is checked.

use serde::Serialize;

/// The columns before the text: the result and the name.
const MARGIN: usize = 17;

/// The result of one check, with its explanation.
pub(super) enum CheckResult {
    Ok(String),
    /// Agents can run, but something could be better.
    Warning {
        problem: String,
        fix: Option<String>,
    },
    /// Agents cannot run until this is fixed.
    Failure {
        problem: String,
        fix: Option<String>,
    },
}

impl CheckResult {
    pub(super) fn warning(problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Warning { problem: problem.into(), fix: Some(fix.into()) }
    }

    pub(super) fn failure(problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Failure { problem: problem.into(), fix: Some(fix.into()) }
    }

    /// A failure whose text also says what to do.
    pub(super) fn explained_failure(text: impl Into<String>) -> Self {
        Self::Failure { problem: text.into(), fix: None }
    }
}

/// One check of the report.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    pub(super) name: &'static str,
    /// `ok`, `note` or `fix`.
    pub(super) result: &'static str,
    pub(super) detail: String,
    /// The remedy, where the detail does not say it.
    pub(super) fix: Option<String>,
}

pub(super) fn check(name: &'static str, result: CheckResult) -> Check {
    let (result, detail, fix) = match result {
        CheckResult::Ok(text) => ("ok", text, None),
        CheckResult::Warning { problem, fix } => ("note", problem, fix),
        CheckResult::Failure { problem, fix } => ("fix", problem, fix),
    };
    Check { name, result, detail, fix }
}

impl Check {
    pub(super) fn is_failure(&self) -> bool {
        self.result == "fix"
    }

    /// Returns the problem and what to do on one line.
    pub(crate) fn sentence(&self) -> String {
        let Some(fix) = &self.fix else { return self.detail.clone() };
        let separator = if fix.starts_with(char::is_uppercase) { "." } else { ";" };
        format!("{}{separator} {fix}", self.detail.trim_end_matches('.'))
    }

    /// Returns the lines of the report, of at most `width` columns if one is given.
    pub(super) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let Self { name, result, detail, fix } = self;
        let width = width.map_or(usize::MAX, |width| width.saturating_sub(MARGIN));
        let fix = fix.iter().flat_map(|fix| wrapped(&format!("fix: {fix}"), width));
        let mut lines: Vec<String> = wrapped(detail, width).into_iter().chain(fix).map(|text| format!("{:MARGIN$}{text}", "")).collect();
        if let Some(first) = lines.first_mut() {
            first.replace_range(..MARGIN, &format!("{result:5} {name:10} "));
        }
        lines
    }
}

/// Breaks a text between words. A longer word stays whole.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for given in text.lines() {
        let mut line = String::new();
        for word in given.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_and_fix_have_lines_of_their_own() {
        let port = check("port", CheckResult::failure("port 9400 is in use by another program", "stop that program, or choose another port"));
        insta::assert_snapshot!(port.lines(None).join("\n"), @r"
        fix   port       port 9400 is in use by another program
                         fix: stop that program, or choose another port
        ");
        insta::assert_snapshot!(port.lines(Some(40)).join("\n"), @r"
        fix   port       port 9400 is in use by
                         another program
                         fix: stop that program,
                         or choose another port
        ");
        assert!(port.lines(Some(40)).iter().all(|line| line.chars().count() <= 40));
        assert_eq!(port.sentence(), "port 9400 is in use by another program; stop that program, or choose another port");
    }

    #[test]
    fn long_word_and_given_lines_stay_whole() {
        let names = check("repository", CheckResult::Ok(format!("{}\nb c", "a".repeat(30))));
        assert_eq!(names.lines(Some(20)), [format!("ok    repository {}", "a".repeat(30)), format!("{:17}b c", "")]);
        assert_eq!(check("git", CheckResult::explained_failure("install git")).sentence(), "install git");
    }
}
