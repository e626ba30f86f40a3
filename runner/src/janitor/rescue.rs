//! Removes kept work whose time is over. It must not touch work that this board did not keep.

use domain::runs::evidence::Sha;
use domain::runs::rescue::KEEP;
use repo::{RESCUE_PREFIX, RepoError};

use crate::runs::checkout::{CheckoutError, with_repository};
use crate::runs::run::RunContext;

/// Removes it in all repositories that have a project. One that cannot be read is tried again with the next call.
///
/// # Errors
/// When the store fails.
pub(super) async fn remove_expired(context: &RunContext) -> db::Result<()> {
    let db = &context.db;
    for expired in db.expired_rescues(RESCUE_PREFIX, db::now().before(KEEP)).await? {
        let reference = expired.reference.clone();
        let dropped = with_repository(&expired.git_dir, move |repository| drop_one(repository, &reference)).await;
        match dropped {
            Ok(sha) => {
                tracing::info!(reference = expired.reference, repository = %expired.git_dir.display(), "removed work that was kept for 30 days");
                db.record_expired_rescue(&expired, sha.as_ref()).await?;
            }
            Err(CheckoutError::Store(error)) => return Err(error),
            Err(error) => tracing::warn!(reference = expired.reference, %error, "could not remove kept work; trying again in an hour"),
        }
    }
    Ok(())
}

/// Drops a reference at the commit that it has; none if a person dropped it.
fn drop_one(repository: &repo::Repository, reference: &str) -> Result<Option<Sha>, RepoError> {
    match repository.rescued(reference) {
        Ok(sha) => repository.drop_rescue(reference, &sha).map(|()| Some(sha)),
        Err(RepoError::RescueMissing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
