//! Finding the configuration, the folders and the person's token.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use domain::config::Config;

use crate::dead_drop;
use crate::error::CliError;

/// The configuration file's name.
pub(crate) const CONFIG_FILE: &str = "vibe-relay.config.json";

/// The configuration in force: the named file, the one of this folder, the one of the person, or the defaults.
///
/// # Errors
/// When a named file is missing or a found one is not acceptable.
pub(crate) fn config(named: Option<&Path>) -> Result<Config, CliError> {
    let home = home()?;
    let here = std::env::current_dir().map_err(CliError::io("find the current folder"))?;
    let file = match named {
        Some(named) if named.is_file() => Some(here.join(named)),
        Some(named) => return Err(CliError::ConfigMissing { path: named.to_owned() }),
        None => [here.join(CONFIG_FILE), home.join(".vibe-relay").join(CONFIG_FILE)].into_iter().find(|path| path.is_file()),
    };
    let Some(path) = file else {
        let mut config = Config::default();
        if let Some(path) = dead_drop::variable(dead_drop::DB_PATH) {
            config.db_path = path.into();
        }
        config.place(&here, &home);
        return Ok(config);
    };
    let text = std::fs::read_to_string(&path).map_err(CliError::io(format!("read {}", path.display())))?;
    let folder = path.parent().unwrap_or(&here).to_owned();
    Config::parse(&text, &folder, &home).map_err(|source| CliError::Config { path, source })
}

fn home() -> Result<PathBuf, CliError> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()).ok_or(CliError::NoHome)
}

/// The file that holds the person's token: beside the database, for them alone.
pub(crate) fn token_file(config: &Config) -> PathBuf {
    config.db_path.with_file_name("token")
}

/// The person's token, made when there is none.
///
/// # Errors
/// When the file cannot be read or written.
pub(crate) fn token(config: &Config) -> Result<String, CliError> {
    let path = token_file(config);
    if let Some(token) = existing_token(config)? {
        return Ok(token);
    }
    let token = db::new_token();
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        writeln!(file, "{token}")?;
        file.sync_all()
    };
    write().map_err(CliError::io(format!("write {}", path.display())))?;
    Ok(token)
}

/// The person's token, if a server has made one.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn existing_token(config: &Config) -> Result<Option<String>, CliError> {
    let path = token_file(config);
    match std::fs::read_to_string(&path) {
        Ok(token) if token.trim().len() == 64 => Ok(Some(token.trim().to_owned())),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::io(format!("read {}", path.display()))(error)),
    }
}
