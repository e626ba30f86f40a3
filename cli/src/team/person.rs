//! `vibe-relay person`: adds, lists and removes the people who may use the board, and changes their roles. Must not know what a role permits.

use std::path::Path;

use domain::team::person::{NewPerson, Person, PersonPatch};
use domain::wire::List;

use crate::args;
use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// Runs the command.
///
/// # Errors
/// When the board is not running or refuses, or nobody has the name.
pub(crate) async fn run(config: Option<&Path>, command: args::Person) -> Result<(), CliError> {
    let client = Client::find(config)?;
    match command {
        args::Person::Add { name, role } => {
            let person: Person = client.post("/api/persons", &NewPerson { name, role: Some(role) }).await?;
            output::line(format!("{} is a {}", person.name, person.role));
            output::hint(format!("Give them access with `vibe-relay token new --person {}`.", person.name));
        }
        args::Person::List => persons(&client).await?.iter().for_each(|person| output::line(format!("{}  {}", person.name, person.role))),
        args::Person::Role { name, role } => {
            let person = find(&client, &name).await?;
            let person: Person = client.patch(&format!("/api/persons/{}", person.id), &PersonPatch { role }).await?;
            output::line(format!("{} is a {}", person.name, person.role));
        }
        args::Person::Remove { name } => {
            let person = find(&client, &name).await?;
            client.delete(&format!("/api/persons/{}", person.id)).await?;
            output::line(format!("{} is removed", person.name));
        }
    }
    Ok(())
}

/// Returns the person with this name, in any case.
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
