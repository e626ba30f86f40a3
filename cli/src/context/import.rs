//! `vibe-relay import`: brings the records of another program, or an issue, into a project. Must not know how they are stored; the board reads them.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use domain::board::task::Task;
use domain::context::import::{ImportReport, ImportSource, NewImport};
use domain::id::ProjectId;
use domain::runs::publication::issue::IssueImport;

use crate::client::Client;
use crate::error::CliError;
use crate::team::token::project_or_sole;
use crate::{output, settings};

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The program that wrote the database; or issue, to make an issue a task.
    #[arg(value_parser = source())]
    source: Source,
    /// The database, which is only read; or the number or address of the issue.
    #[arg(value_name = "DATABASE|ISSUE")]
    from: PathBuf,
    /// Project id or number, for example PROJ-001 or 1; default: the only project, or the one on this folder's repository.
    #[arg(long)]
    project: Option<String>,
    /// Import without asking.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Database(ImportSource),
    Issue,
}

const ISSUE: &str = "issue";

fn source() -> impl TypedValueParser<Value = Source> {
    PossibleValuesParser::new(ImportSource::ALL.iter().map(|source| source.program()).chain([ISSUE])).try_map(|word| match word.as_str() {
        ISSUE => Ok(Source::Issue),
        program => program.replace('-', "_").parse().map(Source::Database),
    })
}

/// Shows what an import would do, and imports after consent.
///
/// # Errors
/// When the board is not running or refuses, or several projects match.
pub(crate) async fn run(config: Option<&Path>, import: Import) -> Result<(), CliError> {
    let client = Client::new(&settings::config(config)?)?;
    let project_id = project_or_sole(&client, import.project, "--project").await?;
    let source = match import.source {
        Source::Database(source) => source,
        Source::Issue => return import_issue(&client, &project_id, &import.from).await,
    };
    let path = std::path::absolute(&import.from).map_err(CliError::io("find the database"))?;
    let path = path.into_os_string().into_string().map_err(|path| CliError::NotUtf8 { path: path.into() })?;
    let new = NewImport { source, path, project_id, dry_run: true };
    let plan: ImportReport = client.post("/api/import", &new).await?;
    let is_empty = plan.counts.iter().all(|count| count.imported == 0);
    let asks = !import.yes && std::io::stdin().is_terminal() && !output::is_json();
    // With JSON only the report of the last step is printed.
    if is_empty || !import.yes || !output::is_json() {
        output::data(&plan, |plan| describe(plan).iter().for_each(output::line));
    }
    if is_empty {
        return Ok(());
    }
    if !import.yes {
        if !asks {
            output::hint("Nothing was written. Add --yes to import.");
            return Ok(());
        }
        if !output::confirm("Import this? [y/N] ")? {
            return Ok(());
        }
    }
    let report: ImportReport = client.post("/api/import", &NewImport { dry_run: false, ..new }).await?;
    output::data(&report, |report| describe(report).iter().for_each(output::line));
    output::hint("Imported agents cannot connect until you create a token for them with `vibe-relay token new`.");
    Ok(())
}

/// Makes an issue a task, which is held.
async fn import_issue(client: &Client, project: &ProjectId, issue: &Path) -> Result<(), CliError> {
    let import = IssueImport { issue: issue.to_string_lossy().into_owned(), start: false };
    let task: Task = client.post(&format!("/api/projects/{project}/issues"), &import).await?;
    output::data(&task, |task| output::line(format!("{} {}", task.card.id, task.card.title)));
    output::hint(format!("It is held. Start it with `vibe-relay task start {}`.", task.card.id));
    Ok(())
}

/// Words a report, a line for each kind of records and each problem.
fn describe(report: &ImportReport) -> Vec<String> {
    let mut lines = vec![format!(
        "{} {} into {}:",
        if report.dry_run { "Would import from" } else { "Imported from" },
        report.source.program(),
        report.project_id
    )];
    for count in &report.counts {
        let parts = [(count.known, "imported before"), (count.skipped, "skipped")];
        let parts: String = parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!(", {number} {what}")).collect();
        lines.push(format!("  {:<15} {:>6} of {}{parts}", count.kind.as_str(), count.imported, count.found));
    }
    lines.extend(report.ignored.iter().map(|ignored| format!("Not imported: {} rows of {}", ignored.rows, ignored.table)));
    lines.extend(report.problems.iter().map(|problem| {
        let outcome = if problem.skipped { "skipped" } else { "changed" };
        format!("{} {} is {outcome}: {}", problem.kind, problem.record, problem.problem)
    }));
    if report.further_problems > 0 {
        lines.push(format!("and {} more", report.further_problems));
    }
    lines
}

#[cfg(test)]
mod tests {
    use domain::context::import::{IgnoredTable, ImportCount, ImportKind, ImportProblem};
    use domain::id::ProjectId;

    use super::*;

    #[test]
    fn report_names_what_is_written_and_what_is_not() {
        let new = NewImport { source: ImportSource::DeadDrop, path: "/a.db".to_owned(), project_id: ProjectId::new(1), dry_run: true };
        let mut report = ImportReport::new(&new);
        *report.count(ImportKind::Message) = ImportCount { kind: ImportKind::Message, found: 12, imported: 8, known: 3, skipped: 0 };
        report.add_problem(ImportProblem {
            kind: ImportKind::Message,
            record: "7".to_owned(),
            problem: "message: it is empty".to_owned(),
            skipped: true,
        });
        report.ignored.push(IgnoredTable { table: "minion_log".to_owned(), rows: 4 });
        insta::assert_snapshot!(describe(&report).join("\n"), @"
        Would import from dead-drop into PROJ-001:
          message              8 of 12, 3 imported before, 1 skipped
        Not imported: 4 rows of minion_log
        message 7 is skipped: message: it is empty
        ");
    }
}
