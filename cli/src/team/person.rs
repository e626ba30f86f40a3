//! `vibe-relay person`: adds, lists and removes the people who may use the board, and changes their roles. Must not know what a role permits.

use std::path::Path;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use domain::team::person::{NewPerson, Person, PersonPatch, PersonRole};
use domain::wire::List;

use crate::client::Client;
use crate::error::CliError;
use crate::output;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a person, or restore one who was removed. `vibe-relay token new --person` gives them access.
    Add {
        /// Name of the person: letters, digits, `-`, `_` and `.`.
        name: String,
        /// A member works on boards; a viewer only reads.
        #[arg(long, default_value = "member", value_parser = further_role())]
        role: PersonRole,
    },
    /// List the people: name and role.
    List,
    /// Change a person's role, effective at once.
    Role {
        /// Name of the person, ignoring case.
        name: String,
        /// A member works on boards; a viewer only reads.
        #[arg(value_parser = further_role())]
        role: PersonRole,
    },
    /// Remove a person, and revoke their token and browser sessions. The history keeps their name.
    Remove {
        /// Name of the person, ignoring case.
        name: String,
    },
}

/// Runs the command.
///
/// # Errors
/// When the board is not running or refuses, or nobody has the name.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let client = Client::find(config)?;
    match command {
        Command::Add { name, role } => {
            let person: Person = client.post("/api/persons", &NewPerson { name, role: Some(role) }).await?;
            output::data(&person, |person| output::line(format!("{} is a {}", person.name, person.role)));
            output::hint(format!("Give them access with `vibe-relay token new --person {}`.", person.name));
        }
        // The owner is always there.
        Command::List => output::list(&persons(&client).await?, "", |person| format!("{}  {}", person.name, person.role)),
        Command::Role { name, role } => {
            let person = find(&client, &name).await?;
            let person: Person = client.patch(&format!("/api/persons/{}", person.id), &PersonPatch { role }).await?;
            output::data(&person, |person| output::line(format!("{} is a {}", person.name, person.role)));
        }
        Command::Remove { name } => {
            let person = find(&client, &name).await?;
            client.delete(&format!("/api/persons/{}", person.id)).await?;
            output::done(format!("{} is removed", person.name));
        }
    }
    Ok(())
}

/// Returns the person with this name, ignoring case.
///
/// # Errors
/// When the board does not answer, or nobody has the name.
pub(crate) async fn find(client: &Client, name: &str) -> Result<Person, CliError> {
    let found = persons(client).await?.into_iter().find(|person| person.name.to_lowercase() == name.to_lowercase());
    found.ok_or_else(|| CliError::NoPerson { name: name.to_owned() })
}

async fn persons(client: &Client) -> Result<Vec<Person>, CliError> {
    Ok(client.get::<List<Person>>("/api/persons").await?.items)
}
fn further_role() -> impl TypedValueParser<Value = PersonRole> {
    let roles = PersonRole::ALL.iter().filter(|role| **role != PersonRole::Owner).map(|role| role.as_str());
    PossibleValuesParser::new(roles).try_map(|word| word.parse::<PersonRole>())
}
