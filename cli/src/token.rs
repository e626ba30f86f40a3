//! `vibe-relay token`: makes what an agent of the person's own connects with. What a token opens is the store's business.

use std::path::Path;

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::wire::{CreatedToken as Made, List, NewToken};
use serde_json::json;

use crate::args::Token;
use crate::client::Client;
use crate::error::CliError;
use crate::{output, setting};

/// Prints the token alone on standard output, so that a script can take it from there.
///
/// # Errors
/// When the board is not running, refuses, or it is not clear which project is meant.
pub(crate) async fn run(config: Option<&Path>, command: Token) -> Result<(), CliError> {
    let config = setting::config(config)?;
    let client = Client::of(&config)?;
    let (project, made) = make(&client, command, git_dir_here().as_deref()).await?;
    output::line(&made.token);
    output::hint(format!("It opens {project} and is shown only now. With it as TOKEN, this connects Claude Code:"));
    output::hint(made.connect);
    Ok(())
}

/// `here` is the common `.git` folder of the repository that the person stands in.
async fn make(client: &Client, command: Token, here: Option<&str>) -> Result<(ProjectId, Made), CliError> {
    let (Token::New { project: named, .. } | Token::Room { project: named }) = &command;
    let project = match named {
        Some(named) => named.parse()?,
        None => {
            let projects: List<Project> = client.get("/api/projects").await?;
            only(&projects.items, here)?.clone()
        }
    };
    let made: Made = match command {
        Token::New { agent, roles, team, .. } => {
            let new = NewToken { agent, roles, team, description: None };
            client.post(&format!("/api/projects/{project}/tokens"), &new).await?
        }
        Token::Room { .. } => client.post(&format!("/api/projects/{project}/room-token"), &json!({})).await?,
    };
    Ok((project, made))
}

/// The project that is meant where none is named: the only one, or the only one of the repository that the person stands in.
fn only<'a>(projects: &'a [Project], here: Option<&str>) -> Result<&'a ProjectId, CliError> {
    let of_here: Vec<&Project> = projects.iter().filter(|project| here == Some(project.git_dir.as_str())).collect();
    match (projects, of_here.as_slice()) {
        ([], _) => Err(CliError::NoProject),
        ([only], _) => Ok(&only.id),
        (_, [of_here]) => Ok(&of_here.id),
        _ => Err(CliError::WhichProject { projects: projects.iter().map(|project| format!("{} ({})", project.id, project.title)).collect() }),
    }
}

fn git_dir_here() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    Some(repo::probe(&here, None).ok()?.git_dir)
}

#[cfg(test)]
mod tests;
