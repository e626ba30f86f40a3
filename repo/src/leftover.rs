//! Finds what this program left in a repository. Must not know projects, and must not remove anything.

use crate::branch::{contains, tip};
use crate::checkout::{Head, read_head};
use crate::error::{Attempt, RepoError};
use crate::handle::Repository;
use crate::probe::branches;

/// The references that this program creates. Branches of people may begin with the same words.
const OWN_REFERENCES: [&str; 3] = ["refs/vibe-relay/*", "refs/heads/vr/TASK-*/*", "refs/heads/vibe-relay/PROJ-*"];

impl Repository {
    /// Whether a reference of this program is in the repository.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn has_own_references(&self) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        for glob in OWN_REFERENCES {
            if handle.references_glob(glob).attempting(|| format!("list the references {glob}"))?.next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns a branch of a person that has all commits of `branch`, the checked-out one first.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn branch_with_all_of(&self, branch: &str) -> Result<Option<String>, RepoError> {
        let handle = self.handle()?;
        let Some(wanted) = tip(&handle, branch)? else { return Ok(None) };
        let head = match read_head(self.git_dir()) {
            Some(Head::Reference(name)) => name.strip_prefix("refs/heads/").map(str::to_owned),
            _ => None,
        };
        for other in branches(&handle, head.as_deref())? {
            let is_managed = domain::board::project::is_managed_branch(&other);
            if !is_managed && tip(&handle, &other)?.is_some_and(|tip| contains(&handle, tip, wanted)) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::TestRepository;

    #[test]
    fn references_of_people_are_not_ours() {
        let sample = TestRepository::new();
        let repository = sample.repository();
        let head = repository.ref_sha("main").unwrap().unwrap();
        for theirs in ["vr/headset", "vibe-relay/notes"] {
            sample.set_branch(theirs, &head);
        }
        assert!(!repository.has_own_references().unwrap());
        for ours in ["refs/heads/vr/TASK-001/work", "refs/heads/vibe-relay/PROJ-001-2", "refs/vibe-relay/rescue/TASK-001/uncommitted"] {
            sample.set_reference(ours, &head);
            assert!(repository.has_own_references().unwrap(), "{ours}");
            sample.delete_reference(ours);
        }
        assert!(!repository.has_own_references().unwrap());
    }

    #[test]
    fn branch_is_kept_by_one_of_a_person() {
        let sample = TestRepository::new();
        let repository = sample.repository();
        let head = repository.ref_sha("main").unwrap().unwrap();
        let kept_by = |branch: &str| repository.branch_with_all_of(branch).unwrap();
        assert_eq!(kept_by("vibe-relay/PROJ-001"), None, "it does not exist");
        for branch in ["vibe-relay/PROJ-001", "develop", "earlier"] {
            sample.set_branch(branch, &head);
        }
        assert_eq!(kept_by("vibe-relay/PROJ-001").as_deref(), Some("main"), "the checked-out one");
        let more = sample.commit_on("vibe-relay/PROJ-001", &[("new.txt", Some("new"))], "More");
        sample.set_branch("vr/TASK-001/work", &more);
        assert_eq!(kept_by("vibe-relay/PROJ-001"), None, "only our own branches have it");
        sample.set_branch("develop", &more);
        assert_eq!(kept_by("vibe-relay/PROJ-001").as_deref(), Some("develop"));
    }
}
