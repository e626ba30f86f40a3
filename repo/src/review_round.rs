//! Keeps the commits of earlier review rounds, because an agent may replace them on its branch. Must not keep anything for longer than its task.

use domain::runs::evidence::Sha;

use crate::branch::{delete_reference, reference_target, set_reference};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, oid};

/// Prefix of the references that keep them.
pub const ROUND_PREFIX: &str = "refs/vibe-relay/round/";

impl Repository {
    /// Points `reference` to `commit`, unless that commit is missing.
    ///
    /// # Errors
    /// `reference` is not below [`ROUND_PREFIX`], or it cannot be written.
    pub fn keep_round(&self, reference: &str, commit: &Sha) -> Result<(), RepoError> {
        require_prefix(reference)?;
        let handle = self.handle()?;
        let commit = oid(commit)?;
        if handle.find_commit(commit).is_err() {
            return Ok(());
        }
        match reference_target(&handle, reference)? {
            Some(kept) if kept == commit => Ok(()),
            earlier => set_reference(&handle, reference, earlier, commit, "vibe-relay: submitted"),
        }
    }

    /// Deletes all references below `folder`.
    ///
    /// # Errors
    /// `folder` is not below [`ROUND_PREFIX`], or a reference cannot be deleted.
    pub fn forget_rounds(&self, folder: &str) -> Result<(), RepoError> {
        require_prefix(folder)?;
        let listing = || format!("list the references below {folder}");
        let handle = self.handle()?;
        for reference in handle.references_glob(&format!("{folder}/*")).attempting(listing)? {
            let reference = reference.attempting(listing)?;
            let (Ok(name), Some(target)) = (std::str::from_utf8(reference.name_bytes()), reference.target()) else { continue };
            delete_reference(self.git_dir(), name, target)?;
        }
        Ok(())
    }
}

fn require_prefix(name: &str) -> Result<(), RepoError> {
    if name.starts_with(ROUND_PREFIX) {
        return Ok(());
    }
    Err(RepoError::ReferenceOutsidePrefix { name: name.to_owned(), prefix: ROUND_PREFIX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestRepository;

    #[test]
    fn replaced_commit_is_kept_until_its_task_is_forgotten() {
        let sample = TestRepository::new();
        let repository = sample.repository();
        let (first, second) = (sample.commit_on("work", &[("a", Some("1"))], "First"), sample.commit_on("work", &[("a", Some("2"))], "Second"));
        let of = |task: &str, name: &str| format!("{ROUND_PREFIX}{task}/{name}");
        for _ in 0..2 {
            repository.keep_round(&of("TASK-001", "1"), &first).unwrap();
        }
        repository.keep_round(&of("TASK-001", "2"), &second).unwrap();
        repository.keep_round(&of("TASK-0011", "1"), &first).unwrap();
        repository.keep_round(&of("TASK-001", "3"), &"0".repeat(40)).unwrap();
        let kept = |task: &str| (1..=3).filter(|number| repository.ref_sha_of(&of(task, &number.to_string())).is_some()).count();
        assert_eq!((kept("TASK-001"), kept("TASK-0011")), (2, 1));
        repository.forget_rounds(&format!("{ROUND_PREFIX}TASK-001")).unwrap();
        assert_eq!((kept("TASK-001"), kept("TASK-0011")), (0, 1), "another task keeps its own");
        assert_eq!(repository.keep_round("refs/heads/main", &first).unwrap_err().code(), "foreign-reference");
        assert_eq!(repository.forget_rounds("refs/heads").unwrap_err().code(), "foreign-reference");
    }

    impl Repository {
        fn ref_sha_of(&self, name: &str) -> Option<git2::Oid> {
            reference_target(&self.handle().unwrap(), name).unwrap()
        }
    }
}
