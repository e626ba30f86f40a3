//! `vibe-relay rescue`: lists, shows, restores and drops work that was kept. Must not know how.

use std::path::Path;

use clap::Subcommand;
use domain::runs::diff::Diff;
use domain::runs::rescue::{DropRescue, Rescue, RestoreRescue, size};
use domain::wire::List;

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output;
use crate::runs::diff;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the unmerged work that was kept when its branch or checkout was removed.
    List {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// Show what kept work changes, compared with the project branch.
    Show {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// The rescue ref, as `list` prints it.
        reference: String,
    },
    /// Restore kept work to a new branch.
    Restore {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// The rescue ref, as `list` prints it.
        reference: String,
        /// The name of the new branch.
        branch: String,
    },
    /// Delete kept work. Name exactly what `list` prints.
    Drop {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// The rescue ref.
        reference: String,
        /// The commit that it keeps.
        sha: String,
    },
}

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let path = |project: &str, rest: &str| Ok::<_, CliError>(format!("/api/projects/{}/rescues{rest}", id::project(project)?));
    match command {
        Command::List { project } => {
            let kept: List<Rescue> = client.get(&path(&project, "")?).await?;
            output::list(&kept.items, "No unmerged work of this project is kept.", line);
        }
        Command::Show { project, reference } => {
            let diff: Diff = client.get(&path(&project, &format!("/diff?reference={reference}"))?).await?;
            output::data(&diff, diff::print);
        }
        Command::Restore { project, reference, branch } => {
            let request = RestoreRescue { reference, branch };
            client.post::<List<Rescue>>(&path(&project, "/restore")?, &request).await?;
            output::done(format!("{} is restored to the branch {}", request.reference, request.branch));
        }
        Command::Drop { project, reference, sha } => {
            let request = DropRescue { reference, sha };
            client.post::<List<Rescue>>(&path(&project, "/drop")?, &request).await?;
            output::done(format!("{} is deleted", request.reference));
        }
    }
    Ok(())
}

fn line(rescue: &Rescue) -> String {
    let until = rescue.ends_at().map(|at| format!("  until {at}")).unwrap_or_default();
    format!("{}  {}  {}{until}  {}  {}", rescue.reference, rescue.sha, rescue.committed_at, size(rescue.bytes), rescue.subject)
}
