//! Reads from which zones can be proposed: the file CODEOWNERS of the base branch, or the last code map. Must not interpret them.

use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use domain::warroom::zone::proposal::ProposalSource;
use domain::warroom::zone::proposal::evidence::ProposalEvidence;

use crate::code_map::KeptCodeMap;
use crate::error::RepoError;
use crate::handle::Repository;
use crate::lane::{Effort, in_lane};

/// Where the file may be, in the order in which GitHub looks.
const CODEOWNERS: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/// GitHub reads no larger file.
const MAX_BYTES: usize = 3 << 20;

/// Reads the source of proposals for a project in the lane of its repository.
///
/// # Errors
/// The base branch does not exist, or the repository cannot be read or does not respond.
pub async fn read_proposal_source(
    source: ProposalSource,
    git_dir: &Path,
    base_branch: String,
    code_map: PathBuf,
) -> Result<ProposalEvidence, RepoError> {
    let opened = git_dir.to_owned();
    let read = move || match source {
        ProposalSource::CodeMap => Ok(ProposalEvidence::CodeMap(KeptCodeMap::read(&code_map).map(|map| map.summary))),
        ProposalSource::Codeowners => {
            let repository = Repository::open(&opened)?;
            let files = repository.commit_files(&[base_branch])?;
            Ok(ProposalEvidence::Codeowners { found: repository.codeowners(&files.commit)?, files })
        }
    };
    in_lane(git_dir, Effort::Long, read).await?
}

impl Repository {
    /// Returns the file CODEOWNERS of a commit, and its text.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn codeowners(&self, commit: &Sha) -> Result<Option<(String, String)>, RepoError> {
        for path in CODEOWNERS {
            if let Some(bytes) = self.file_at(commit, path)?.filter(|bytes| bytes.len() <= MAX_BYTES) {
                return Ok(Some((path.to_owned(), String::from_utf8_lossy(&bytes).into_owned())));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestRepository;

    #[tokio::test]
    async fn codeowners_are_read_from_the_branch_and_not_from_the_checkout() {
        let sample = TestRepository::new();
        sample.write("CODEOWNERS", "* @checkout\n");
        let folder = sample.beside("maps/PROJ-001");
        let git_dir = sample.git_dir();
        let read = |source| read_proposal_source(source, &git_dir, "main".to_owned(), folder.clone());
        let found = |evidence| match evidence {
            ProposalEvidence::Codeowners { found, files } => (found.map(|(path, _)| path), files.files.len()),
            ProposalEvidence::CodeMap(_) => (None, 0),
        };
        assert_eq!(found(read(ProposalSource::Codeowners).await.unwrap()), (None, 1));
        sample.commit_on("main", &[("docs/CODEOWNERS", Some("* @docs\n"))], "owners");
        assert_eq!(found(read(ProposalSource::Codeowners).await.unwrap()), (Some("docs/CODEOWNERS".to_owned()), 2));
        let commit = sample.commit_on("main", &[(".github/CODEOWNERS", Some("* @github\n"))], "owners");
        assert_eq!(found(read(ProposalSource::Codeowners).await.unwrap()).0.as_deref(), Some(".github/CODEOWNERS"));
        assert_eq!(read(ProposalSource::CodeMap).await.unwrap(), ProposalEvidence::CodeMap(None));
        let map = sample.repository().renew_code_map(&commit, &folder).unwrap();
        assert_eq!(read(ProposalSource::CodeMap).await.unwrap(), ProposalEvidence::CodeMap(Some(map.summary)));
    }
}
