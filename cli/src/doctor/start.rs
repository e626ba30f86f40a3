//! The checks that decide whether a server can work at all. `serve` refuses to start where one fails, and `doctor` shows them all.
//!
//! `agents` checks the needs of agents; of those, `serve` refuses only what the configuration names and does not exist.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use domain::config::Config;

use repo::{RepoError, Repository};
use runner::preflight;
use tokio::task::spawn_blocking;

use super::agents;
use super::check::{Check, CheckResult, check};
use crate::error::{CliError, full_text};
use crate::{last_port, logging, prompt_files, settings};

/// Reads the configuration with every file that it names, and returns the part that is valid with its checks.
///
/// # Errors
/// When the current folder or the home folder is unknown.
pub(super) fn configuration(file: Option<&Path>) -> Result<(Config, Vec<Check>), CliError> {
    let (mut config, read) = match settings::parse(file) {
        Ok(config) => (config, CheckResult::Ok(file.map_or_else(|| "no file; defaults apply".to_owned(), |file| file.display().to_string()))),
        Err(error) => {
            let rest = settings::valid_part(file)?;
            let applies = if rest.config.origin.keys.is_empty() { "the defaults" } else { "the other keys of the file" };
            let fix = format!("correct the file, and read it again with `vibe-relay config check`; until then the lines below are about {applies}");
            (rest.config, CheckResult::failure(full_text(&error), fix))
        }
    };
    settings::complete(&mut config);
    let replaced = match prompt_files::read(&config) {
        Ok(read) => {
            config.prompts = read;
            prompts(&config)
        }
        Err(error) => CheckResult::explained_failure(full_text(&error)),
    };
    let mut checks = vec![check("config", read), check("prompts", replaced)];
    if let Err(error) = settings::read_secrets(&mut config) {
        checks.push(check("webhooks", CheckResult::failure(full_text(&error), "correct \"secret_file\" or \"secret_env\" of that webhook")));
    }
    Ok((config, checks))
}

fn prompts(config: &Config) -> CheckResult {
    let doubts = prompt_files::doubts(config);
    if !doubts.is_empty() {
        return CheckResult::warning(doubts.join("; "), "compare your files with the built-in texts, which `vibe-relay init --prompts` writes");
    }
    match config.prompts.replaced().count() {
        0 => CheckResult::Ok("built in".to_owned()),
        1 => CheckResult::Ok("1 is replaced by a file of yours".to_owned()),
        count => CheckResult::Ok(format!("{count} are replaced by files of yours")),
    }
}

/// Checks what a server needs. `port` is the one that the command line names, and `running` the port of the board that runs already.
pub(super) async fn checks(config: &Config, port: Option<u16>, running: Option<u16>) -> Vec<Check> {
    let mut checks = folders(config);
    checks.extend(database_and_port(config, port, running).await);
    checks
}

async fn database_and_port(config: &Config, port: Option<u16>, running: Option<u16>) -> [Check; 2] {
    let database = check("database", database(config, running.is_some()).await);
    [database, check("port", self::port(port.or(config.port), last_port::read(&config.db_path), running))]
}

fn folders(config: &Config) -> Vec<Check> {
    let data = config.db_path.parent().unwrap_or(&config.db_path);
    vec![
        check("data", writable(data, "the database", "\"db_path\" to a file in another folder")),
        check("logs", writable(&logging::folder(config), "the log", "\"db_path\" to a file in another folder, which then also holds the logs")),
        check("worktrees", writable(&config.worktrees_path, "worktrees", "\"worktrees_path\" to another folder")),
    ]
}

/// Refuses a server that could not even write its log.
///
/// # Errors
/// Every folder that cannot be written.
pub(crate) fn require_folders(config: &Config) -> Result<(), CliError> {
    refuse_failures(folders(config))
}

/// Refuses a server that can only fail: by its machine, or by what its configuration names. The default agent program and a repository
/// may be missing, because a person can install and choose one while the server runs. [`require_folders`] comes first.
///
/// # Errors
/// Every check that fails.
pub(crate) async fn require(config: &Config, port: Option<u16>) -> Result<(), CliError> {
    let mut checks = Vec::from(database_and_port(config, port, None).await);
    if config.agent_command != Config::default().agent_command && preflight::program(config).is_err() {
        checks.push(check("agent", agents::agent(config).await));
    }
    if config.origin.keys.iter().any(|key| key == "repo_path") && !is_usable_repository(config).await {
        checks.push(check("repository", agents::repository(config).await));
    }
    refuse_failures(checks)
}

fn refuse_failures(checks: Vec<Check>) -> Result<(), CliError> {
    let problems: Vec<String> = checks.iter().filter(|check| check.is_failure()).map(Check::sentence).collect();
    if problems.is_empty() { Ok(()) } else { Err(CliError::CannotServe { problems }) }
}

/// Whether the configured repository and branch exist. `agents::repository` examines more, which would delay the start.
async fn is_usable_repository(config: &Config) -> bool {
    let (Some(path), branch) = (config.repo_path.clone(), config.base_branch.clone()) else { return true };
    let found = spawn_blocking(move || {
        let repository = Repository::open(&repo::git_dir(&path)?)?;
        branch.map_or(Ok(true), |branch| Ok(repository.ref_sha(&branch)?.is_some()))
    });
    matches!(found.await, Ok(Ok::<bool, RepoError>(true)))
}

fn writable(folder: &Path, what: &str, remedy: &str) -> CheckResult {
    if folder.exists() && !folder.is_dir() {
        let problem = format!("{} is not a folder, so {what} cannot be stored there", folder.display());
        return CheckResult::failure(problem, format!("move that file, or set {remedy}"));
    }
    match repo::require_writable(folder) {
        Ok(()) => CheckResult::Ok(folder.display().to_string()),
        Err(problem) => {
            CheckResult::failure(format!("{problem}, so {what} cannot be stored there"), format!("change its permissions, or set {remedy}"))
        }
    }
}

/// Whether this version can open the database. A running board proves it.
async fn database(config: &Config, is_running: bool) -> CheckResult {
    let path = &config.db_path;
    if is_running {
        return CheckResult::Ok(format!("{}, in use by the board", path.display()));
    }
    if !path.exists() {
        return CheckResult::Ok(format!("{} is created at the first start", path.display()));
    }
    match db::inspect_database(path).await {
        Ok(()) => CheckResult::Ok(path.display().to_string()),
        Err(error) => CheckResult::explained_failure(full_text(&error)),
    }
}

/// Whether the port of the board is free, or the board's own.
fn port(fixed: Option<u16>, last: Option<u16>, running: Option<u16>) -> CheckResult {
    let is_taken = |port: u16| matches!(TcpListener::bind(("127.0.0.1", port)), Err(error) if error.kind() == ErrorKind::AddrInUse);
    match (fixed.filter(|port| *port > 0), running) {
        (Some(fixed), Some(running)) if fixed != running => {
            CheckResult::warning(format!("the board listens on {running}, and {fixed} is configured"), "restart the board to use it")
        }
        (_, Some(running)) => CheckResult::Ok(format!("{running}, in use by the board")),
        (None, None) => match last {
            Some(last) if is_taken(last) => CheckResult::warning(
                format!("another program has port {last}, which the board had before, so the board would take the next free one"),
                format!("stop that program, which `ss -ltnp 'sport = :{last}'` names"),
            ),
            Some(last) => CheckResult::Ok(format!("{last} as last time, or the next free one")),
            None => CheckResult::Ok("the first free one from 9400 on".to_owned()),
        },
        (Some(fixed), None) => match TcpListener::bind(("127.0.0.1", fixed)) {
            Ok(_) => CheckResult::Ok(format!("{fixed} is free")),
            Err(error) if error.kind() == ErrorKind::AddrInUse => CheckResult::failure(
                format!("port {fixed} is in use by another program, which `ss -ltnp 'sport = :{fixed}'` names"),
                "stop that program, or choose another with --port or \"port\", or omit both to use the next free one",
            ),
            Err(error) => CheckResult::failure(format!("port {fixed} cannot be used ({error})"), "choose one from 1024 on with --port or \"port\""),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn config(folder: &Path) -> Config {
        Config { db_path: folder.join("data/board.db"), worktrees_path: folder.join("trees"), ..Config::default() }
    }

    /// The names of failed checks, with their details.
    async fn failures(config: &Config, port: Option<u16>) -> Vec<(&'static str, String)> {
        checks(config, port, None).await.into_iter().filter(Check::is_failure).map(|check| (check.name, check.sentence())).collect()
    }

    #[tokio::test]
    async fn each_obstacle_is_refused_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(failures(&config(folder.path()), None).await, []);
        require(&config(folder.path()), None).await.unwrap();

        let file = folder.path().join("file");
        std::fs::write(&file, "not a database").unwrap();
        let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let used = taken.local_addr().unwrap().port();
        let base = || config(folder.path());
        let a_folder = folder.path().join("a folder");
        std::fs::create_dir(&a_folder).unwrap();
        let cases: [(&str, Config, Option<u16>, &str); 6] = [
            ("data", Config { db_path: file.join("board.db"), logs_path: Some(folder.path().join("logs")), ..base() }, None, "\"db_path\""),
            ("logs", Config { logs_path: Some(file.clone()), ..base() }, None, "is not a folder"),
            ("worktrees", Config { worktrees_path: file.clone(), ..base() }, None, "set \"worktrees_path\" to another folder"),
            ("database", Config { db_path: file.clone(), ..base() }, None, "belongs to another program"),
            ("database", Config { db_path: a_folder.clone(), ..base() }, None, "a folder/vibe-relay.db"),
            ("port", base(), Some(used), "--port"),
        ];
        for (name, config, port, remedy) in cases {
            let found = failures(&config, port).await;
            assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [name], "{found:?}");
            let refused = match require_folders(&config) {
                Ok(()) => require(&config, port).await,
                refused => refused,
            };
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(&found[0].1), "{error}");
            assert!(error.contains(remedy), "{error}");
        }
    }

    #[test]
    fn port_is_free_taken_or_the_boards_own() {
        let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let used = taken.local_addr().unwrap().port();
        for (fixed, last, running, expected) in [
            (None, None, None, "ok the first free one from 9400 on"),
            (Some(0), None, None, "ok the first free one from 9400 on"),
            (None, Some(9412), None, "ok 9412 as last time"),
            (None, Some(used), None, "note another program has port"),
            (None, None, Some(used), "in use by the board"),
            (Some(used), None, Some(used), "in use by the board"),
            (Some(used), None, Some(1), "note the board listens on 1"),
            (Some(used), None, None, "fix port"),
        ] {
            let found = check("port", port(fixed, last, running));
            let text = format!("{} {}", found.result, found.sentence());
            assert!(text.contains(expected), "{fixed:?} {last:?} {running:?}: {text}");
        }
    }

    #[tokio::test]
    async fn unwritable_folder_is_refused_before_there_is_a_log() {
        let folder = tempfile::tempdir().unwrap();
        require_folders(&config(folder.path())).unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let closed = Config { db_path: file.join("board.db"), ..config(folder.path()) };
        let refused = require_folders(&closed).unwrap_err().to_string();
        assert!(refused.contains("the database cannot be stored there; move that file, or set \"db_path\""), "{refused}");
    }

    #[tokio::test]
    async fn only_what_the_configuration_names_has_to_exist() {
        let folder = tempfile::tempdir().unwrap();
        let sample = repo::testing::TestRepository::new();
        let (top, plain) = (Some(sample.top().to_owned()), Some(folder.path().to_owned()));
        let missing = || Some(PathBuf::from("/nonexistent"));
        let agent = || vec!["/nonexistent/agent".to_owned()];
        let base = || config(folder.path());
        for (key, config, problem) in [
            ("repo_path", Config { repo_path: plain, ..base() }, Some("is not inside a git repository")),
            ("repo_path", Config { repo_path: missing(), ..base() }, Some("/nonexistent")),
            ("repo_path", Config { repo_path: top.clone(), base_branch: Some("nope".to_owned()), ..base() }, Some("nope")),
            ("repo_path", Config { repo_path: top, ..base() }, None),
            ("agent_command", Config { agent_command: agent(), ..base() }, Some("does not exist")),
            ("port", Config { repo_path: missing(), ..base() }, None),
        ] {
            let mut config = config;
            config.origin.keys.push(key.to_owned());
            let refused = require(&config, None).await.map_err(|error| error.to_string());
            match problem {
                Some(problem) => assert!(refused.as_ref().is_err_and(|error| error.contains(problem)), "{problem}: {refused:?}"),
                None => assert_eq!(refused, Ok(()), "{key}"),
            }
        }
    }

    #[test]
    fn broken_configuration_and_broken_prompt_have_lines_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        let line = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let checks = configuration(Some(&file)).unwrap().1;
            let failed = checks.iter().find(|check| check.is_failure());
            let check = failed.or(checks.last()).unwrap();
            (check.name, check.result, check.detail.clone())
        };
        assert_eq!(line(r#"{"prompts_path": "."}"#), ("prompts", "ok", "built in".to_owned()));
        let (name, result, detail) = line(r#"{"prots": 1}"#);
        assert_eq!((name, result), ("config", "fix"), "{detail}");
        std::fs::write(folder.path().join("coder.md"), "").unwrap();
        let (name, result, detail) = line(r#"{"prompts_path": "."}"#);
        assert!((name, result) == ("prompts", "fix") && detail.contains("coder.md is empty"), "{detail}");
        std::fs::write(folder.path().join("coder.md"), "Mine.").unwrap();
        assert_eq!(line(r#"{"prompts_path": "."}"#), ("prompts", "ok", "1 is replaced by a file of yours".to_owned()));
        std::fs::write(folder.path().join("coders.md"), "Mine.").unwrap();
        let (name, result, detail) = line(r#"{"prompts_path": "."}"#);
        assert!((name, result) == ("prompts", "note") && detail.contains("coders.md replaces nothing"), "{detail}");
        let (name, result, detail) = line(r#"{"prompts_path": null, "webhooks": [{"url": "https://a.example/", "secret_env": "NO_SUCH_VARIABLE"}]}"#);
        assert!((name, result) == ("webhooks", "fix") && detail.contains("NO_SUCH_VARIABLE"), "{detail}");
    }
}
