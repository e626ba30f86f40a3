//! `vibe-relay backup` and `vibe-relay restore`: copies of the database. Must not know how a copy is made.

use std::path::Path;

use crate::error::CliError;
use crate::{output, settings};

/// Copies the database into a new file. A server may run meanwhile.
///
/// # Errors
/// When there is no database, the file exists, or the copy is damaged.
pub(crate) async fn backup(config: Option<&Path>, file: &Path) -> Result<(), CliError> {
    let config = settings::config(config)?;
    db::backup(&config.db_path, file).await?;
    output::done(format!("{} is a checked copy of {}", file.display(), config.db_path.display()));
    Ok(())
}

/// Replaces the database with a copy of a file, and keeps the old one.
///
/// # Errors
/// When a server runs, or the file is not a database of this version.
pub(crate) async fn restore(config: Option<&Path>, file: &Path) -> Result<(), CliError> {
    let config = settings::config(config)?;
    let restored = db::restore(&config.db_path, file).await?;
    output::done(format!("{} holds the state of {}", config.db_path.display(), file.display()));
    if let Some(replaced) = restored.replaced {
        output::hint(format!("The old database is kept as {}.", replaced.display()));
    }
    output::hint("Tokens and sign-ins that were revoked after the backup are valid again; check them with `vibe-relay session list`.");
    Ok(())
}
