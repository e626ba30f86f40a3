//! Takes away the locks that a killed server left on references of ours.
//!
//! Touches nothing but names that the store knows as ours, and none on whose task an agent is at work: that agent may be committing.

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
    for (git_dir, name) in db.references_at_rest().await? {
        let named = name.clone();
        let removed: Result<bool, CheckoutError> = blocking(move || Repository::open(Path::new(&git_dir))?.clear_lock(&named)).await;
        match removed {
            Ok(true) => tracing::info!(reference = name, "took away a lock that a killed server left"),
            Ok(false) => {}
            Err(error) => tracing::warn!(reference = name, %error, "could not look for a left-over lock"),
        }
    }
    Ok(())
}
