//! The code map for agents that plan. It is kept beside the database, so that the next one only parses what changed.
//!
//! It must not fail a run: without the map, an agent searches the repository itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use db::Db;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use repo::{CodeMap, Repository};

use crate::runs::checkout::{CheckoutPlan, with_files};

/// The folder beside the database.
const FOLDER: &str = "code-maps";

/// Where the last map of a project is.
pub(crate) fn file(db: &Db, project: &ProjectId) -> PathBuf {
    db.folder().join(FOLDER).join(format!("{project}.json"))
}

/// Returns the map of the commit that an agent starts from, if its kind needs one.
pub(crate) async fn code_map(db: &Db, project: &ProjectId, phase: AgentKind, plan: &CheckoutPlan) -> Option<String> {
    if !matches!(phase, AgentKind::Planner | AgentKind::Orchestrator) {
        return None;
    }
    let (kept, commit) = (file(db, project), plan.sha.clone());
    match with_files(&plan.git_dir, move |repository| Ok(map(repository, &commit, &kept)?.text)).await {
        Ok(text) => Some(text),
        Err(error) => {
            tracing::warn!(%project, %error, "the code map was not made");
            None
        }
    }
}

/// Makes the map from the last one. Blocks.
fn map(repository: &Repository, commit: &str, kept: &Path) -> Result<CodeMap, repo::RepoError> {
    // A map that cannot be read is made from nothing.
    let last = fs::read(kept).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let had_last = last.is_some();
    let map = repository.code_map(commit, last)?;
    if (map.parsed > 0 || !had_last)
        && let Err(error) = store(&map, kept)
    {
        tracing::warn!(path = %kept.display(), %error, "the code map was not kept; the next one is made from nothing");
    }
    Ok(map)
}

/// Replaces the last map at once, so that a crash leaves one of both.
fn store(map: &CodeMap, kept: &Path) -> io::Result<()> {
    if let Some(folder) = kept.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = kept.with_extension("new");
    fs::write(&new, serde_json::to_vec(map)?)?;
    fs::rename(new, kept)
}

#[cfg(test)]
mod tests {
    use repo::testing::TestRepository;

    use super::*;

    #[test]
    fn next_map_parses_what_changed_and_a_damaged_one_is_replaced() {
        let sample = TestRepository::new();
        sample.write("src/lib.rs", "pub fn run() {}\n");
        sample.write("src/card.rs", "pub struct Card;\n");
        let kept = sample.beside("maps").join("PROJ-001.json");
        let first = sample.commit_all("add files");
        assert_eq!(map(&sample.repository(), &first, &kept).unwrap().parsed, 2);
        sample.write("src/card.rs", "pub struct CardView;\n");
        let second = sample.commit_all("rename it");
        let next = map(&sample.repository(), &second, &kept).unwrap();
        assert!(next.parsed == 1 && next.text.contains("- card.rs (1): CardView"), "{}", next.text);
        assert_eq!(map(&sample.repository(), &second, &kept).unwrap().parsed, 0);
        fs::write(&kept, "{").unwrap();
        assert_eq!(map(&sample.repository(), &second, &kept).unwrap().parsed, 2);
    }
}
