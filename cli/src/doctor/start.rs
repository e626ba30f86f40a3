//! The checks that decide whether a server can work at all. `serve` refuses to start where one fails, and `doctor` shows them all.
//!
//! `agents` checks the needs of agents.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use domain::config::Config;

use super::{Check, CheckResult, check};
use crate::error::{CliError, full_text};
use crate::{last_port, logging, prompt_files, settings};

/// Reads the configuration with every file that it names, as its checks.
///
/// # Errors
/// The check that fails, because nothing else can be examined without a configuration.
pub(super) fn configuration(file: Option<&Path>) -> Result<(Config, Vec<Check>), Check> {
    let config = settings::with_files(file).map_err(|error| match &error {
        CliError::Prompt(_) => check("prompts", CheckResult::Failure(full_text(&error))),
        _ => check("config", CheckResult::Failure(full_text(&error))),
    })?;
    let source = file.map_or_else(|| "no file; defaults apply".to_owned(), |file| file.display().to_string());
    let checks = vec![check("config", CheckResult::Ok(source)), check("prompts", prompts(&config))];
    Ok((config, checks))
}

fn prompts(config: &Config) -> CheckResult {
    let doubts = prompt_files::doubts(config);
    if !doubts.is_empty() {
        return CheckResult::Warning(format!("{}. `vibe-relay init --prompts` writes the built-in texts for comparison", doubts.join("; ")));
    }
    match config.prompts.replaced().count() {
        0 => CheckResult::Ok("built in".to_owned()),
        1 => CheckResult::Ok("1 is replaced by a file of yours".to_owned()),
        count => CheckResult::Ok(format!("{count} are replaced by files of yours")),
    }
}

/// Checks what a server needs. `port` is the one that the command line names, and `running` the port of the board that runs already.
pub(super) async fn checks(config: &Config, port: Option<u16>, running: Option<u16>) -> Vec<Check> {
    let data = config.db_path.parent().unwrap_or(&config.db_path);
    vec![
        check("data", writable(data, "the database", "\"db_path\" to a file in another folder")),
        check("logs", writable(&logging::folder(config), "the log", "\"db_path\" to a file in another folder, which then also holds the logs")),
        check("worktrees", writable(&config.worktrees_path, "worktrees", "\"worktrees_path\" to another folder")),
        check("database", database(config, running.is_some()).await),
        check("port", self::port(port.or(config.port), last_port::read(&config.db_path), running)),
    ]
}

/// Refuses a server that can only fail.
///
/// # Errors
/// Every check that fails.
pub(crate) async fn require(config: &Config, port: Option<u16>) -> Result<(), CliError> {
    let failed: Vec<String> = checks(config, port, None).await.into_iter().filter(Check::is_failure).map(|check| check.detail).collect();
    if failed.is_empty() { Ok(()) } else { Err(CliError::CannotServe { problems: failed }) }
}

fn writable(folder: &Path, what: &str, remedy: &str) -> CheckResult {
    if folder.exists() && !folder.is_dir() {
        return CheckResult::Failure(format!(
            "{} is not a folder, so {what} cannot be stored there; move that file, or set {remedy}",
            folder.display()
        ));
    }
    match repo::require_writable(folder) {
        Ok(()) => CheckResult::Ok(folder.display().to_string()),
        Err(problem) => CheckResult::Failure(format!("{problem}, so {what} cannot be stored there; change its permissions, or set {remedy}")),
    }
}

/// Whether this version can open the database. A running board proves it.
async fn database(config: &Config, is_running: bool) -> CheckResult {
    let path = &config.db_path;
    if is_running {
        return CheckResult::Ok(format!("{}, in use by the board", path.display()));
    }
    if path.is_dir() {
        let file = path.join("vibe-relay.db");
        return CheckResult::Failure(format!("{} is a folder; set \"db_path\" to a file, such as {}", path.display(), file.display()));
    }
    if !path.exists() {
        return CheckResult::Ok(format!("{} is created at the first start", path.display()));
    }
    match db::inspect_database(path).await {
        Ok(()) => CheckResult::Ok(path.display().to_string()),
        Err(error) => CheckResult::Failure(full_text(&error)),
    }
}

/// Whether the port of the board is free, or the board's own.
fn port(fixed: Option<u16>, last: Option<u16>, running: Option<u16>) -> CheckResult {
    match (fixed.filter(|port| *port > 0), running) {
        (Some(fixed), Some(running)) if fixed != running => {
            CheckResult::Warning(format!("the board listens on {running}, and {fixed} applies once you restart it"))
        }
        (_, Some(running)) => CheckResult::Ok(format!("{running}, in use by the board")),
        (None, None) => CheckResult::Ok(match last {
            Some(last) => format!("{last} as last time, or the next free one"),
            None => "the first free one from 9400 on".to_owned(),
        }),
        (Some(fixed), None) => match TcpListener::bind(("127.0.0.1", fixed)) {
            Ok(_) => CheckResult::Ok(format!("{fixed} is free")),
            Err(error) if error.kind() == ErrorKind::AddrInUse => CheckResult::Failure(format!(
                "port {fixed} is in use by another program, which `ss -ltnp 'sport = :{fixed}'` names; stop it, or choose another with --port or \
                 \"port\", or omit both to use the next free one"
            )),
            Err(error) => CheckResult::Failure(format!("port {fixed} cannot be used ({error}); choose one from 1024 on with --port or \"port\"")),
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
        checks(config, port, None).await.into_iter().filter(Check::is_failure).map(|check| (check.name, check.detail)).collect()
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
            let error = require(&config, port).await.unwrap_err().to_string();
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
            (None, None, Some(used), "in use by the board"),
            (Some(used), None, Some(used), "in use by the board"),
            (Some(used), None, Some(1), "note the board listens on 1"),
            (Some(used), None, None, "is in use by another program"),
        ] {
            let Check { result, detail, .. } = check("port", port(fixed, last, running));
            let text = format!("{result} {detail}");
            assert!(text.contains(expected), "{fixed:?} {last:?} {running:?}: {text}");
        }
    }

    #[test]
    fn broken_configuration_and_broken_prompt_have_lines_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        let line = |text: &str| {
            std::fs::write(&file, text).unwrap();
            match configuration(Some(&file)) {
                Ok((_, checks)) => checks.into_iter().map(|check| (check.name, check.result, check.detail)).next_back().unwrap(),
                Err(check) => (check.name, check.result, check.detail),
            }
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
        let missing: PathBuf = folder.path().join("missing.json");
        assert!(configuration(Some(&missing)).is_err());
    }
}
