//! `vibe-relay audit`: checks the audit log, and shows its end. The check reads the database itself, because a server could hide something.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Subcommand;
use domain::audit::{AuditKind, AuditRow};
use domain::wire::List;

use crate::client::Client;
use crate::error::CliError;
use crate::{number, output, settings, vocabulary};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check that no row of the audit log was changed, removed or added.
    Verify {
        /// A head that an earlier check printed, which must still be in the log.
        #[arg(long, value_name = "ROW:HASH")]
        noted: Option<Noted>,
        /// Another database, such as a backup; default: the configured one.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Show the newest rows of the running board.
    List {
        /// Only rows of this kind.
        #[arg(long, value_parser = vocabulary::one_of(AuditKind::ALL, AuditKind::as_str))]
        kind: Option<AuditKind>,
        /// Only rows of this participant, such as human or coder-TASK-012.
        #[arg(long)]
        actor: Option<String>,
        /// How many rows, up to 200.
        #[arg(long, default_value_t = 20, value_parser = number::whole::<u32>)]
        limit: u32,
    },
}

/// A row with its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Noted {
    id: i64,
    hash: String,
}

impl FromStr for Noted {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let expected = || "write the number of the row, a colon and its hash, as an earlier check printed them".to_owned();
        let (id, hash) = given.split_once(':').ok_or_else(expected)?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = id.parse().ok().filter(|id: &i64| *id > 0 && is_hash).ok_or_else(expected)?;
        Ok(Self { id, hash: hash.to_ascii_lowercase() })
    }
}

/// Runs the command.
///
/// # Errors
/// When a row does not fit, the database cannot be read, or the board is not running.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    match command {
        Command::Verify { noted, file } => {
            let path = file.map_or_else(|| settings::config(config).map(|config| config.db_path), Ok)?;
            let check = db::verify_audit(&path, noted.as_ref().map(|noted| (noted.id, noted.hash.as_str()))).await?;
            if let Some(broken) = check.broken {
                return Err(CliError::AuditBroken { path, row: broken.id, problem: broken.problem });
            }
            let sentence = format!("The audit log is intact: {} rows, up to row {}.", check.rows, check.head);
            output::data(&check, |check| {
                output::line(sentence);
                if check.head > 0 {
                    output::line(format!("Head: {}:{}", check.head, check.head_hash));
                }
            });
            if check.head > 0 {
                output::hint(
                    "Keep a copy of the head outside this machine. `vibe-relay audit verify --noted HEAD` later proves that nothing before it was changed.",
                );
            }
        }
        Command::List { kind, actor, limit } => {
            let client = Client::find(config)?;
            let mut path = format!("/api/audit?limit={limit}");
            if let Some(kind) = kind {
                path += &format!("&kind={kind}");
            }
            if let Some(actor) = actor {
                path += &format!("&actor={}", percent_encoding::utf8_percent_encode(&actor, percent_encoding::NON_ALPHANUMERIC));
            }
            let rows: List<AuditRow> = client.get(&path).await?;
            let rows: Vec<AuditRow> = rows.items.into_iter().rev().collect();
            output::list(&rows, "No row matches.", line);
        }
    }
    Ok(())
}

/// The line of a row.
fn line(row: &AuditRow) -> String {
    let AuditRow { id, at, kind, actor, action, subject, result, detail, count, .. } = row;
    let actor = actor.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
    let subject = subject.as_ref().map(|subject| format!(" {subject}")).unwrap_or_default();
    let detail = detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let times = if *kind != AuditKind::Write && *count > 1 { format!(" × {count}") } else { String::new() };
    format!("{id}  {at}  {kind}  {actor}  {action}{subject}  {result}{times}{detail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noted_row_is_a_number_and_a_hash() {
        let hash = "ab".repeat(32);
        assert_eq!(format!("12:{}", hash.to_uppercase()).parse(), Ok(Noted { id: 12, hash: hash.clone() }));
        for wrong in ["", "12", "12:ab", &format!("0:{hash}"), &format!("-1:{hash}"), &format!("12:{hash}0"), "12:\u{0}"] {
            assert!(wrong.parse::<Noted>().is_err(), "{wrong}");
        }
    }
}
