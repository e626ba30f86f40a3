//! Recognizes in the output of an agent that git refused its commit: a hook failed, or it could not be signed. Pure.

use domain::runs::failure::FailureClass;

/// Errors of git and its signing programs when a signature cannot be made.
const SIGNING_ERRORS: [&str; 5] =
    ["failed to sign the data", "failed to write commit object", "Couldn't load public key", "Couldn't get agent socket", "No secret key"];
/// Messages of git when there is nothing that a commit could hold.
const NOTHING_TO_COMMIT: [&str; 3] = ["nothing to commit", "nothing added to commit", "no changes added to commit"];
/// Programs before a commit in the same line that do not fail by themselves in a way that looks like a hook.
const HARMLESS: [&str; 16] =
    ["cd", "git", "echo", "printf", "cat", "mkdir", "touch", "cp", "mv", "rm", "chmod", "export", "set", "true", "exit", "#!/bin/sh"];

/// Whether a line of shell fails only if its commit fails.
pub(super) fn is_commit(command: &str) -> bool {
    let Some(start) = command.find("git commit") else { return false };
    let parts = command[..start].split("&&").flat_map(|part| part.split([';', '|', '\n']));
    let before = parts.map(|part| part.trim_start_matches(['\'', '"', '(', '{', ' ']));
    before.filter_map(|part| part.split_whitespace().next()).all(|program| HARMLESS.contains(&program) || program.contains('='))
}

/// Says why a commit failed whose command printed `output` at its end. `has_changes` if the checkout still has what it should hold, and
/// `has_hooks` if the repository runs hooks at a commit.
pub(super) fn judge(output: &str, has_changes: bool, has_hooks: bool) -> Option<FailureClass> {
    let prints = |texts: &[&str]| texts.iter().any(|text| output.contains(text));
    match () {
        () if !has_changes || prints(&NOTHING_TO_COMMIT) => None,
        () if prints(&SIGNING_ERRORS) => Some(FailureClass::CommitSigning),
        () => has_hooks.then_some(FailureClass::CommitHook),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_fail_with_their_commit_count() {
        for command in [
            "git commit -m x",
            "cd src && git add -A && git commit -m \"$(cat <<'EOF'\nAdd it\n\nBecause; of that\nEOF\n)\"",
            "GIT_EDITOR=true git commit --amend",
            "echo x > x.txt; git add x.txt && git commit -q -m x",
            "echo '#!/bin/sh\necho no >&2; exit 1' > hook; chmod +x hook; git commit -m x",
        ] {
            assert!(is_commit(command), "{command}");
        }
        for command in ["cargo test && git commit -m x", "npm run lint; git commit", "git status", "grep -r commit ."] {
            assert!(!is_commit(command), "{command}");
        }
    }

    #[test]
    fn refused_commits_are_told_apart() {
        let gpg = "error: gpg failed to sign the data\nfatal: failed to write commit object";
        let ssh = "error: Couldn't load public key /home/ann/.ssh/id: No such file or directory?";
        for output in [gpg, ssh] {
            assert_eq!(judge(output, true, true), Some(FailureClass::CommitSigning));
            assert_eq!(judge(output, true, false), Some(FailureClass::CommitSigning));
        }
        assert_eq!(judge("eslint found 2 problems", true, true), Some(FailureClass::CommitHook));
        assert_eq!(judge("eslint found 2 problems", true, false), None, "no hook can have failed");
        assert_eq!(judge("eslint found 2 problems", false, true), None, "a later commit took the changes");
        assert_eq!(judge("On branch x\nnothing to commit, working tree clean", true, true), None);
    }
}
