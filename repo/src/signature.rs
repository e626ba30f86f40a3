//! Signs the commits that the board makes, where the configuration asks for signed commits.
//!
//! `git` runs the signing program in a carrier, so only the person's own configuration names that program. The repository, which an agent can
//! write, says at most which key and which kind of signature. Must not decide which commits are signed.

use std::fs::{self, File};
use std::time::Duration;

use git2::Oid;

use crate::error::{Attempt, RepoError};
use crate::git_call::succeed;
use crate::handle::{Repository, oid};
use crate::identity::Identity;

/// Settings that name a key.
const KEY_SETTINGS: [&str; 2] = ["gpg.format", "user.signingKey"];

/// How long a person has to unlock a key.
const LIMIT: Duration = Duration::from_secs(120);

impl Repository {
    /// Writes a signed commit that no branch has.
    ///
    /// # Errors
    /// [`RepoError::NotSigned`] if there is no key, or it is locked.
    pub(crate) fn signed_commit(&self, tree: Oid, parents: &[Oid], message: &str, identity: &Identity) -> Result<Oid, RepoError> {
        let signing = || "sign a commit".to_owned();
        let carrier = self.carrier()?;
        let text = carrier.path("message");
        fs::write(&text, message).attempting(signing)?;
        let mut call = carrier.call(["commit-tree", "-S", "-F", "-"]);
        call.arguments.extend(parents.iter().flat_map(|parent| ["-p".into(), parent.to_string().into()]));
        call.arguments.push(tree.to_string().into());
        let config = self.handle()?.config().and_then(|mut config| config.snapshot()).attempting(signing)?;
        call.settings.extend(KEY_SETTINGS.iter().filter_map(|name| Some(format!("{name}={}", config.get_str(name).ok()?))));
        call.variables = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, identity.name.clone())).to_vec();
        call.variables.extend(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, identity.email.clone())));
        call.input = Some(File::open(&text).attempting(signing)?);
        call.limit = LIMIT;
        match succeed(call, signing) {
            Err(RepoError::GitFailed { output, .. }) => Err(RepoError::NotSigned { output }),
            signed => oid(signed?.trim()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::MergeOutcome;
    use crate::git_program::{git, make_key, run, serve_calls};
    use crate::testing::TestRepository;

    /// A repository in which the person signs with a key of `ssh`.
    fn signed() -> (TestRepository, PathBuf) {
        serve_calls();
        let sample = TestRepository::new();
        let key = make_key(&sample);
        for (name, value) in [("commit.gpgSign", "true"), ("gpg.format", "ssh"), ("user.signingKey", key.to_str().unwrap())] {
            sample.configure(name, value);
        }
        (sample, key)
    }

    #[test]
    fn merges_are_signed_as_the_configuration_says() {
        let (sample, _) = signed();
        let repository = sample.repository();
        let start = repository.ref_sha("main").unwrap().unwrap();
        let work = sample.commit_on("work", &[("a", Some("a"))], "work");
        let identity = repository.identity("runner").unwrap();
        let message = "Merge work: ä\n\nTask: TASK-001\n";
        for outcome in [repository.merge_commit(&start, &work, message, &identity), repository.squash_commit(&start, &work, message, &identity)] {
            let Ok(MergeOutcome::Merged { sha, already: false }) = outcome else { panic!("{outcome:?}") };
            assert!(run(sample.top(), &["verify-commit", &sha]).status.success(), "{sha}");
            assert_eq!(git(sample.top(), &["show", "-s", "--format=%an %s", &sha]), "Sam Sample Merge work: ä");
            assert_eq!(repository.tree_of(&sha).unwrap(), repository.tree_of(&work).unwrap());
        }
        let Ok(MergeOutcome::Merged { sha, .. }) = repository.merge_commit(&start, &work, message, &identity.unsigned()) else { panic!() };
        assert!(!run(sample.top(), &["verify-commit", &sha]).status.success(), "nobody keeps this commit");
    }

    #[test]
    fn missing_key_is_a_reason_and_changes_nothing() {
        let (sample, key) = signed();
        let repository = sample.repository();
        let start = repository.ref_sha("main").unwrap().unwrap();
        let work = sample.commit_on("work", &[("a", Some("a"))], "work");
        let identity = repository.identity("runner").unwrap();
        let elsewhere = key.with_extension("away");
        fs::rename(&key, &elsewhere).unwrap();
        let refused = repository.merge("project", &start, &work, "merge", &identity).unwrap_err();
        assert_eq!(refused.code(), "not-signed", "{refused}");
        fs::rename(&elsewhere, &key).unwrap();
        sample.set_branch("project", &start);
        assert!(repository.merge("project", &start, &work, "merge", &identity).is_ok());
    }

    #[test]
    fn program_that_the_repository_names_does_not_sign() {
        let (sample, _) = signed();
        let evil = sample.beside("evil");
        sample.configure("gpg.ssh.program", evil.to_str().unwrap());
        sample.configure("gpg.program", evil.to_str().unwrap());
        let repository = sample.repository();
        let start = repository.ref_sha("main").unwrap().unwrap();
        let work = sample.commit_on("work", &[("a", Some("a"))], "work");
        assert!(repository.merge_commit(&start, &work, "merge", &repository.identity("runner").unwrap()).is_ok());
    }
}
