//! Takes away the locks that a killed server left on references of ours.
//!
//! Touches nothing but names that the store knows as ours, and none on whose task an agent is at work: that agent may be committing.

use std::collections::BTreeMap;
use std::path::Path;

use db::Db;
use repo::Repository;

use super::{CheckoutError, blocking};

/// To be called once, before the runner first writes to a repository: the store admits one server, so none is left that holds a lock.
/// A repository that cannot be served is left to whoever needs it next, and who can say so on a card.
///
/// # Errors
/// When the store fails.
pub(crate) async fn unlock(db: &Db) -> db::Result<()> {
    let mut by_repository = BTreeMap::<String, Vec<String>>::new();
    for (git_dir, name) in db.idle_references().await? {
        by_repository.entry(git_dir).or_default().push(name);
    }
    for (git_dir, names) in by_repository {
        let looked: Result<(), CheckoutError> = blocking(move || {
            let repository = Repository::open(Path::new(&git_dir))?;
            for name in names {
                if repository.clear_lock(&name)? {
                    tracing::info!(reference = name, "took away a lock that a killed server left");
                }
            }
            Ok(())
        })
        .await;
        if let Err(error) = looked {
            tracing::warn!(%error, "could not look for left-over locks");
        }
    }
    Ok(())
}
