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
    if !config.db_path.exists() {
        return Err(CliError::NoDatabase { path: config.db_path });
    }
    if file.symlink_metadata().is_ok() {
        return Err(CliError::FileExists { path: file.to_owned() });
    }
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
    if !file.exists() {
        return Err(CliError::NoBackup { path: file.to_owned(), kept: config.db_path.with_file_name("backups") });
    }
    let restored = db::restore(&config.db_path, file).await?;
    output::done(format!("{} holds the state of {}", config.db_path.display(), file.display()));
    if let Some(replaced) = restored.replaced {
        output::hint(format!("The old database is kept as {}.", replaced.display()));
    }
    output::hint("Tokens and sign-ins that were revoked after the backup are valid again; check them with `vibe-relay session list`.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn missing_and_existing_files_are_named_with_the_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let (configuration, file) = (folder.path().join("config.json"), folder.path().join("copy.db"));
        std::fs::write(&configuration, r#"{"db_path": "board.db"}"#).unwrap();
        let none = backup(Some(&configuration), &file).await.unwrap_err().to_string();
        assert!(none.contains("board.db does not exist; start `vibe-relay serve` once"), "{none}");
        let none = restore(Some(&configuration), &file).await.unwrap_err().to_string();
        assert!(none.contains("copy.db does not exist; `vibe-relay backup FILE` writes one"), "{none}");
        std::fs::write(folder.path().join("board.db"), "").unwrap();
        std::fs::write(&file, "").unwrap();
        let exists = backup(Some(&configuration), &file).await.unwrap_err().to_string();
        assert!(exists.contains("copy.db already exists; name another file"), "{exists}");
    }
}
