//! `vibe-relay token`: creates, lists, changes and revokes tokens of external agents and other people, and replaces the owner's.
//!
//! Must not know what a token permits; the store decides that.

mod given;

use std::path::Path;

use clap::Subcommand;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::team::role::Role;
use domain::team::token::{TokenAudience, TokenReach};
use domain::wire::{CreatedPersonToken, CreatedToken, List, NewPersonToken, NewToken, RotatedToken};
use serde_json::json;

use self::given::Terms;
use crate::client::Client;
use crate::error::CliError;
use crate::team::person;
use crate::{id, output, settings, vocabulary};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Create(CreateToken),
    /// List the tokens: id, kind, holder, permissions and expiry.
    List,
    /// Revoke a token at once.
    Revoke {
        /// Id of the token, from the list, or the name of its holder.
        #[arg(value_name = "ID|HOLDER")]
        token: String,
    },
    /// Change what a token permits, or how long it is valid from now on.
    Change {
        /// Id of the token, from the list, or the name of its holder.
        #[arg(value_name = "ID|HOLDER")]
        token: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Replace your permanent token, the one in the file `token`, and sign your browsers out. Tokens of agents stay valid.
    Rotate,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CreateToken {
    /// Create a trusted agent and print its token, or print the token of another person; any earlier token for that name is revoked.
    New {
        /// Name of the agent.
        #[arg(long, value_name = "NAME", required_unless_present = "person")]
        agent: Option<String>,
        /// Role of the agent; separate several with commas, or repeat the option.
        #[arg(
            long = "role",
            value_name = "ROLE",
            required_unless_present = "person",
            value_delimiter = ',',
            value_parser = vocabulary::one_of(Role::ALL, Role::as_str)
        )]
        roles: Vec<Role>,
        /// Team, which becomes the first part of the name.
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
        /// Project id or number, for example PROJ-001 or 1; default: the only project, or the one on this folder's repository.
        #[arg(long)]
        project: Option<String>,
        /// Let a lead act in all projects, as a general.
        #[arg(long)]
        all_projects: bool,
        /// Name of the person, instead of an agent's.
        #[arg(long, value_name = "NAME", conflicts_with_all = ["agent", "roles", "team", "project", "all_projects", "permissions"])]
        person: Option<String>,
        /// Interfaces that accept the token of a person: mcp for the tools, api for the HTTP interface; default: both.
        #[arg(long, requires = "person", value_parser = vocabulary::one_of(TokenAudience::ALL, TokenAudience::as_str))]
        audience: Option<TokenAudience>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print a token that lets agents register under names they choose; the project's previous invite token is revoked.
    #[command(alias = "room")]
    Invite {
        /// Project id or number, for example PROJ-001 or 1; default: the only project, or the one on this folder's repository.
        #[arg(long)]
        project: Option<String>,
    },
}

/// Of a new token, prints only the token on standard output, for scripts; the command that connects an agent goes to standard error.
///
/// # Errors
/// When the board is not running or refuses, or several projects match.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let config = settings::config(config)?;
    let client = Client::new(&config)?;
    let command = match command {
        Command::Create(CreateToken::New { person: Some(name), audience, terms, .. }) => {
            let new = NewPersonToken { audience, expires_in: terms.seconds() };
            return create_for_person(&client, &name, &new).await;
        }
        Command::Create(command) => command,
        Command::List => return given::list(&client).await,
        Command::Revoke { token } => return given::revoke(&client, &token).await,
        Command::Change { token, terms } => return given::change(&client, &token, &terms).await,
        Command::Rotate => {
            let rotated = rotate(&client).await?;
            output::done(format!("The new token is in {}.", settings::token_file(&config).display()));
            output::hint(format!("{} of your browser sessions were revoked; `vibe-relay open` signs a browser in again.", rotated.revoked_sessions));
            return Ok(());
        }
    };
    let (project, created) = create(&client, command, git_dir_here().as_deref()).await?;
    output::data(&created, |created| output::line(&created.token));
    output::hint(format!(
        "The token gives access to {project} and is shown only once. With the token in the variable TOKEN, this command connects Claude Code:"
    ));
    output::hint(created.connect);
    Ok(())
}

/// Creates the token of a person, and a link that signs one browser in.
async fn create_for_person(client: &Client, name: &str, new: &NewPersonToken) -> Result<(), CliError> {
    let person = person::find(client, name).await?;
    let created: CreatedPersonToken = client.post(&format!("/api/persons/{}/token", person.id), new).await?;
    output::data(&created, |created| output::line(&created.token));
    output::hint(format!("The token is {}'s and is shown only once. This link signs one of their browsers in, once:", person.name));
    output::hint(created.sign_in_link);
    Ok(())
}

/// Creates the token. `here` is the common `.git` folder of the current folder's repository.
async fn create(client: &Client, command: CreateToken, here: Option<&str>) -> Result<(ProjectId, CreatedToken), CliError> {
    let (CreateToken::New { project, .. } | CreateToken::Invite { project }) = &command;
    let project = find_project(client, project.as_deref(), here, "--project").await?;
    let created: CreatedToken = match command {
        CreateToken::New { agent, roles, team, all_projects, terms, .. } => {
            let (permissions, expires_in) = (terms.permissions(), terms.seconds());
            let (agent, reach) = (agent.unwrap_or_default(), all_projects.then_some(TokenReach::All));
            let new = NewToken { agent, roles, team, description: None, permissions, reach, expires_in };
            client.post(&format!("/api/projects/{project}/tokens"), &new).await?
        }
        CreateToken::Invite { .. } => client.post(&format!("/api/projects/{project}/invite-token"), &json!({})).await?,
    };
    Ok((project, created))
}

/// Returns the project with an id, or else the only one or that of the current folder.
///
/// # Errors
/// When the id is invalid, there is no project, or several projects match.
/// `how` is the argument that names one.
pub(crate) async fn project_or_sole(client: &Client, id: Option<String>, how: &'static str) -> Result<ProjectId, CliError> {
    find_project(client, id.as_deref(), git_dir_here().as_deref(), how).await
}

async fn find_project(client: &Client, id: Option<&str>, here: Option<&str>, how: &'static str) -> Result<ProjectId, CliError> {
    if let Some(id) = id {
        return Ok(id::project(id)?);
    }
    let projects: List<Project> = client.get("/api/projects").await?;
    Ok(sole_project(&projects.items, here, how)?.clone())
}

/// Replaces the human's token, in its file and on the board.
async fn rotate(client: &Client) -> Result<RotatedToken, CliError> {
    client.post("/api/token/rotate", &json!({})).await
}

/// The only project, or the only project on the current folder's repository.
fn sole_project<'a>(projects: &'a [Project], here: Option<&str>, how: &'static str) -> Result<&'a ProjectId, CliError> {
    let of_here: Vec<&Project> = projects.iter().filter(|project| here == Some(project.git_dir.as_str())).collect();
    let which = |reason, projects: &[&Project]| {
        let projects = projects.iter().map(|project| format!("{} ({})", project.id, project.title)).collect();
        Err(CliError::WhichProject { reason, how, projects })
    };
    match (projects, of_here.as_slice()) {
        ([], _) => Err(CliError::NoProject),
        ([only], _) => Ok(&only.id),
        (_, [of_here]) => Ok(&of_here.id),
        (all, []) => which("none of the projects is on the repository of this folder", &all.iter().collect::<Vec<_>>()),
        (_, of_here) => which("several projects are on the repository of this folder", of_here),
    }
}

/// The common `.git` folder of the repository that contains the current folder.
pub(crate) fn git_dir_here() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    repo::git_dir(&here).ok()?.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests;
