//! Finds the configuration file, and the place of the human's token.
//!
//! Must not know what the settings are for. `reload` watches the files that are read here.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use domain::config::origin::SettingSource;
use domain::config::{Config, ConfigError};
use domain::team::webhook::{Secret, Webhook};
use serde_json::Value;

use crate::error::{CliError, full_text};
use crate::folders::Folders;
use crate::{dead_drop, output, prompt_files};

/// The name of the configuration file.
pub(crate) const CONFIG_FILE: &str = "vibe-relay.config.json";

/// The key that names the database.
const DB_PATH: &str = "db_path";

/// The variable that replaces the levels of the log.
const LOG_VARIABLE: &str = "RUST_LOG";

/// Reads the configuration for a command: the named file, or the first of the [`candidates`], or the defaults. Commands need the place of the
/// database, so a mistake in another key is only reported: a running board continues with the last valid file.
///
/// # Errors
/// When the named file does not exist, or the file does not say which database is meant.
pub(crate) fn config(named: Option<&Path>) -> Result<Config, CliError> {
    let file = file(named)?;
    let error = match parse(file.as_deref()) {
        Err(error @ CliError::Config { .. }) => error,
        read => return read,
    };
    let rest = valid_part(file.as_deref())?;
    if !rest.names_database {
        return Err(error);
    }
    output::hint(format!("warning: {}; this command uses the database {}", full_text(&error), rest.config.db_path.display()));
    Ok(rest.config)
}

/// A configuration file without what is not valid.
pub(crate) struct ValidPart {
    pub(crate) config: Config,
    /// Whether the database is the one that the file means.
    pub(crate) names_database: bool,
}

/// Reads the keys of a broken file that are valid; the others have their defaults.
///
/// # Errors
/// When the current folder or the home folder is unknown.
pub(crate) fn valid_part(file: Option<&Path>) -> Result<ValidPart, CliError> {
    let text = file.and_then(|file| std::fs::read_to_string(file).ok());
    let Some((path, Ok(Value::Object(mut keys)))) = file.zip(text.as_deref().map(serde_json::from_str)) else {
        // A file that does not mention the key means the default.
        let names_database = text.is_some_and(|text| !text.contains(DB_PATH));
        return Ok(ValidPart { config: parse(None)?, names_database });
    };
    let had_database = keys.contains_key(DB_PATH);
    loop {
        match parse_text(&Value::Object(keys.clone()).to_string(), path) {
            Ok(config) => return Ok(ValidPart { names_database: had_database == keys.contains_key(DB_PATH), config }),
            Err(CliError::Config { source: ConfigError::UnknownKey { key, .. } | ConfigError::Value { key, .. }, .. })
                if keys.remove(key.split(['.', '[']).next().unwrap_or_default()).is_some() => {}
            Err(_) => return Ok(ValidPart { config: parse(None)?, names_database: false }),
        }
    }
}

/// Reads the configuration that a server needs, with the text of every prompt file and the secret of every webhook.
///
/// # Errors
/// When the configuration, a prompt or a secret cannot be read.
pub(crate) fn with_files(file: Option<&Path>) -> Result<Config, CliError> {
    let mut config = parse(file)?;
    complete(&mut config);
    config.prompts = prompt_files::read(&config)?;
    read_secrets(&mut config)?;
    Ok(config)
}

/// Adds what comes from the current folder and the environment.
pub(crate) fn complete(config: &mut Config) {
    if config.repo_path.is_none() {
        config.repo_path = repository_here();
        if config.repo_path.is_some() {
            config.origin.elsewhere.push(("repo_path", SettingSource::Folder));
        }
    }
    if dead_drop::variable(LOG_VARIABLE).is_some() {
        config.origin.elsewhere.push(("log", SettingSource::Environment));
    }
}

/// Reads the secret of every webhook.
///
/// # Errors
/// When one cannot be read.
pub(crate) fn read_secrets(config: &mut Config) -> Result<(), CliError> {
    for webhook in &mut config.webhooks {
        webhook.secret = secret(webhook)?;
    }
    Ok(())
}

/// Reads the secret of a webhook from its file or its environment variable.
fn secret(webhook: &Webhook) -> Result<Secret, CliError> {
    let (text, source) = match (&webhook.secret_file, &webhook.secret_env) {
        (Some(path), _) => {
            let source = format!("read the secret of a webhook in {}", path.display());
            (std::fs::read_to_string(path).map_err(CliError::io(&source))?, source)
        }
        (None, variable) => {
            let variable = variable.as_deref().unwrap_or_default();
            let source = format!("read the secret of a webhook in the variable {variable}");
            (std::env::var(variable).map_err(|error| CliError::io(&source)(io::Error::other(error)))?, source)
        }
    };
    Secret::parse(&text).map_err(|problem| CliError::io(source)(io::Error::other(problem)))
}

/// The configuration file in use, if there is one.
///
/// # Errors
/// When the named file does not exist.
pub(crate) fn file(named: Option<&Path>) -> Result<Option<PathBuf>, CliError> {
    match named {
        Some(named) => {
            let path = tidied(&current_folder()?.join(named));
            if path.is_file() { Ok(Some(path)) } else { Err(CliError::ConfigMissing { path }) }
        }
        None => Ok(candidates()?.into_iter().find(|path| path.is_file())),
    }
}

/// The places to look for a configuration file that is not named, in order: the folders from the current one up to the root of its repository,
/// and that of the installation.
///
/// # Errors
/// When the current folder or the home folder is unknown.
pub(crate) fn candidates() -> Result<Vec<PathBuf>, CliError> {
    let here = current_folder()?;
    // The command of an agent uses the same file wherever in its worktree it runs. Its bridge and its hooks know the database by themselves.
    let is_agent = std::env::var_os(runner::env::MARKER).is_some();
    let root = if is_agent { None } else { repo::place(&here).ok().map(|place| PathBuf::from(place.repo_path)) };
    let folders = folders_up_to(&here, root.as_deref()).map(Path::to_owned).chain([Folders::find()?.config]);
    Ok(folders.map(|folder| folder.join(CONFIG_FILE)).collect())
}

/// The folders from `here` up to `root`, or only `here`.
fn folders_up_to<'a>(here: &'a Path, root: Option<&'a Path>) -> impl Iterator<Item = &'a Path> {
    here.ancestors().take_while(move |folder| *folder == here || root.is_some_and(|root| folder.starts_with(root)))
}

/// The path without `.` and `..`. A link may be before `..`, so only the file system can tell what is meant.
fn tidied(file: &Path) -> PathBuf {
    let shortest = || file.components().collect();
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if folder.components().any(|part| part == Component::ParentDir) => {
            std::fs::canonicalize(folder).map_or_else(|_| shortest(), |folder| folder.join(name))
        }
        _ => shortest(),
    }
}

/// Reads the file, or takes the defaults.
///
/// # Errors
/// When the file is not valid.
pub(crate) fn parse(file: Option<&Path>) -> Result<Config, CliError> {
    let Some(path) = file else {
        let mut config = Config::default();
        if let Some(path) = dead_drop::variable(dead_drop::DB_PATH) {
            config.db_path = path.into();
            config.origin.elsewhere.push(("db_path", SettingSource::Environment));
        }
        config.resolve_paths(&current_folder()?, &home()?);
        Folders::find()?.complete(&mut config);
        return Ok(config);
    };
    let text = std::fs::read_to_string(path).map_err(|source| CliError::ConfigUnreadable { path: path.to_owned(), source })?;
    parse_text(&text, path)
}

/// Parses the text of the file at `path`.
fn parse_text(text: &str, path: &Path) -> Result<Config, CliError> {
    let (folder, home) = (current_folder()?, home()?);
    let parsed = Config::parse(text, path.parent().unwrap_or(&folder), &home);
    let mut config = parsed.map_err(|source| CliError::Config { path: path.to_owned(), source })?;
    config.origin.file = Some(path.to_owned());
    Folders::find()?.complete(&mut config);
    Ok(config)
}

/// The repository of the current folder, which new projects use if the configuration names none. A look at its branches and files would
/// delay the start; creating a project takes it.
fn repository_here() -> Option<PathBuf> {
    let place = repo::place(&std::env::current_dir().ok()?).ok()?;
    Some(place.repo_path.into())
}

fn current_folder() -> Result<PathBuf, CliError> {
    std::env::current_dir().map_err(CliError::io("find the current folder"))
}

/// The person's home folder.
///
/// # Errors
/// When HOME is not set.
pub(crate) fn home() -> Result<PathBuf, CliError> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()).ok_or(CliError::NoHome)
}

/// The name of the person who starts the server: from git's configuration, or the login name.
pub(crate) fn owner_name() -> String {
    repo::user_name().or_else(|| ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok())).unwrap_or_default()
}

/// The file of the human's token: beside the database, and readable only by its owner.
pub(crate) fn token_file(config: &Config) -> PathBuf {
    config.db_path.with_file_name("token")
}

/// Replaces the token file at `path` as a whole.
///
/// # Errors
/// When the file cannot be written. The old one stays in that case.
pub(crate) fn write_token(path: &Path, token: &str) -> io::Result<()> {
    let temporary = path.with_extension("new");
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)?;
    path.parent().map_or(Ok(()), |folder| std::fs::File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_looked_for_up_to_the_root_of_the_repository() {
        let found = |here: &'static str, root: Option<&'static str>| -> Vec<String> {
            folders_up_to(Path::new(here), root.map(Path::new)).map(|folder| folder.display().to_string()).collect()
        };
        assert_eq!(found("/home/ann/site/src/pages", Some("/home/ann/site")), ["/home/ann/site/src/pages", "/home/ann/site/src", "/home/ann/site"]);
        assert_eq!(found("/home/ann/site", Some("/home/ann/site")), ["/home/ann/site"]);
        assert_eq!(found("/home/ann/site/src", None), ["/home/ann/site/src"], "no repository, or an agent");
    }

    #[test]
    fn named_file_is_shown_without_detours() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("inner")).unwrap();
        std::fs::write(top.join("c.json"), "{}").unwrap();
        for named in ["c.json", "./c.json", "inner/../c.json"] {
            assert_eq!(file(Some(&top.join(named))).unwrap(), Some(top.join("c.json")), "{named}");
        }
        let missing = file(Some(&top.join("inner/../missing.json"))).unwrap_err().to_string();
        assert!(missing.contains(&format!("{} does not exist", top.join("missing.json").display())), "{missing}");
    }

    #[test]
    fn mistake_in_another_key_leaves_the_database_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let strict = parse(Some(&file)).is_ok();
            (strict, config(Some(&file)).ok().map(|config| config.db_path))
        };
        let own = Some(folder.path().join("board.db"));
        let default = Some(parse(None).unwrap().db_path);
        assert_eq!(read(r#"{"db_path": "board.db", "port": 9400}"#), (true, own.clone()));
        for broken in [
            r#"{"db_path": "board.db", "port": "x"}"#,
            r#"{"db_path": "board.db", "prots": 1, "limits": {"run_minutes": "many"}}"#,
            r#"{"db_path": "board.db", "webhooks": [{"url": 1}], "max_attempts": 0}"#,
        ] {
            assert_eq!(read(broken), (false, own.clone()), "{broken}");
        }
        for broken in [r#"{"port": "x"}"#, r#"{"port": 9400,"#] {
            assert_eq!(read(broken), (false, default.clone()), "{broken}: the file does not name another one");
        }
        for broken in [r#"{"db_path": 7}"#, r#"{"db_path": "board.db","#] {
            assert_eq!(read(broken), (false, None), "{broken}: the database is not known");
        }
        let kept = valid_part(Some(&file)).unwrap();
        assert!(!kept.names_database && kept.config.origin.keys.is_empty());
    }
}
