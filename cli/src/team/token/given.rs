//! Tokens that were given: their list, changes and revocations. Must not know what a permission allows.

use std::str::FromStr;

use domain::team::token::{Permission, Permissions, Token, TokenName, TokenReach};
use domain::wire::{List, TokenPatch};

use crate::client::Client;
use crate::error::CliError;
use crate::{output, vocabulary};

/// The permissions of a token, and its lifetime.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Terms {
    /// Permission of the token; separate several with commas, or repeat the option. Default: read and write.
    #[arg(
        long = "permission",
        value_name = "PERMISSION",
        value_delimiter = ',',
        value_parser = vocabulary::one_of(Permission::ALL, Permission::as_str)
    )]
    permissions: Vec<Permission>,
    /// How long the token is valid, such as 90m, 12h or 30d; default: until it is revoked.
    #[arg(long, value_name = "TIME")]
    expires_in: Option<Lifetime>,
}

impl Terms {
    pub(super) fn permissions(&self) -> Option<Permissions> {
        (!self.permissions.is_empty()).then(|| self.permissions.clone().into())
    }

    pub(super) fn seconds(&self) -> Option<u64> {
        self.expires_in.map(|Lifetime(seconds)| seconds)
    }
}

/// A number of seconds, minutes, hours or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lifetime(u64);

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let expected = || "write a number and its unit, such as 90m, 12h or 30d".to_owned();
        let unit = given.chars().last().ok_or_else(expected)?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return Err(expected()),
        };
        let number: u64 = given[..given.len() - 1].parse().map_err(|_| expected())?;
        number.checked_mul(seconds).map(Self).ok_or_else(expected)
    }
}

/// Prints all tokens, one on each line.
pub(super) async fn list(client: &Client) -> Result<(), CliError> {
    output::list(&tokens(client).await?, "No token exists.", line);
    Ok(())
}

async fn tokens(client: &Client) -> Result<Vec<Token>, CliError> {
    let (mut after, mut tokens) = (Some(0), Vec::new());
    while let Some(from) = after {
        let page: List<Token> = client.get(&format!("/api/tokens?after={from}")).await?;
        tokens.extend(page.items);
        after = page.next;
    }
    Ok(tokens)
}

/// Returns the token with an id, or the only one of a holder.
async fn find(client: &Client, given: &str) -> Result<TokenName, CliError> {
    if let Ok(name) = given.parse() {
        return Ok(name);
    }
    let of_holder: Vec<Token> = tokens(client).await?.into_iter().filter(|token| token.holder.as_deref() == Some(given)).collect();
    match of_holder.as_slice() {
        [] => Err(CliError::NoToken { holder: given.to_owned() }),
        [only] => Ok(only.name.clone()),
        several => Err(CliError::WhichToken { holder: given.to_owned(), tokens: several.iter().map(line).collect() }),
    }
}

pub(super) async fn revoke(client: &Client, token: &str) -> Result<(), CliError> {
    let name = find(client, token).await?;
    client.delete(&format!("/api/tokens/{name}")).await?;
    output::done(format!("token {name} is revoked"));
    Ok(())
}

pub(super) async fn change(client: &Client, token: &str, terms: &Terms) -> Result<(), CliError> {
    let name = find(client, token).await?;
    let patch = TokenPatch { permissions: terms.permissions(), expires_in: terms.seconds() };
    let token: Token = client.patch(&format!("/api/tokens/{name}"), &patch).await?;
    output::data(&token, |token| output::line(line(token)));
    Ok(())
}

/// The line of a token.
fn line(token: &Token) -> String {
    let Token { name, kind, holder, project_id, reach, audience, permissions, created_at, expires_at, last_used_at } = token;
    let holder = holder.as_deref().unwrap_or("anyone");
    let project = match (project_id, reach) {
        (Some(project), TokenReach::Project) => format!(" in {project}"),
        (Some(project), TokenReach::All) => format!(" in {project} and all other projects"),
        (None, _) => String::new(),
    };
    let expires = expires_at.map_or_else(|| "never expires".to_owned(), |at| format!("expires {at}"));
    let used = last_used_at.map(|at| format!("  last used {at}")).unwrap_or_default();
    format!("{name}  {kind}  {holder}{project}  for {audience}  {permissions}  created {created_at}  {expires}{used}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetime_is_a_number_with_a_unit() {
        let seconds = ["90s", "90m", "12h", "30d"].map(|given| given.parse().ok());
        assert_eq!(seconds, [90, 5_400, 43_200, 2_592_000].map(|seconds| Some(Lifetime(seconds))));
        for wrong in ["", "d", "90", "-1d", "1.5h", "1 h", "1ä", "99999999999999999999d", "9999999999999999999d"] {
            assert!(wrong.parse::<Lifetime>().is_err(), "{wrong}");
        }
    }
}
