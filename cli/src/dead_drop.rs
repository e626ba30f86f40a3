//! Variables that agents' configurations set for dead-drop servers, which stand in for ours where ours are missing.
//!
//! Pure: the environment is handed in, and what it stood in for is said in one line for standard error.

use std::path::Path;

use crate::error::CliError;

pub(crate) const DB_PATH: &str = "DEAD_DROP_DB_PATH";
const PORT: &str = "DEAD_DROP_PORT";
const HOST: &str = "DEAD_DROP_HOST";
const ROOM_TOKEN: &str = "DEAD_DROP_ROOM_TOKEN";

/// The value of a variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The port to serve on, and the hint: `port` is the one that was asked for, `db_path` the database in use.
pub(crate) fn for_server(port: Option<u16>, db_path: &Path, read: impl Fn(&str) -> Option<String>) -> (Option<u16>, Option<String>) {
    let mut said = Vec::new();
    if read(DB_PATH).is_some_and(|path| stands_for(&path, db_path)) {
        said.push(format!("{DB_PATH} names the database (ours: \"db_path\" in vibe-relay.config.json)"));
    }
    let wanted = read(PORT).filter(|_| port.is_none());
    let theirs = wanted.as_deref().and_then(|port| port.parse().ok());
    match (&wanted, theirs) {
        (Some(_), Some(_)) => said.push(format!("{PORT} names the port (ours: --port)")),
        (Some(wanted), None) => said.push(format!("{PORT} is left out, for {wanted} is no port (ours: --port)")),
        (None, _) => {}
    }
    if let Some(host) = read(HOST).filter(|host| !["127.0.0.1", "localhost"].contains(&host.as_str())) {
        said.push(format!("{HOST} is left out, for the board listens on 127.0.0.1 alone and not on {host}"));
    }
    (port.or(theirs), hint(&said))
}

/// The token to act with, and the hint: `token` is ours if it is set, `db_path` the database in use, named by `ours` or else by them.
///
/// # Errors
/// When there is no token for what is configured like an agent of theirs: without one it would act as the person.
pub(crate) fn for_bridge(
    token: Option<String>,
    db_path: &Path,
    read: impl Fn(&str) -> Option<String>,
) -> Result<(Option<String>, Option<String>), CliError> {
    let mut said = Vec::new();
    if read("VIBE_RELAY_DB").is_none() && read(DB_PATH).is_some_and(|path| stands_for(&path, db_path)) {
        said.push(format!("{DB_PATH} names the database (ours: VIBE_RELAY_DB)"));
    }
    let theirs = read(ROOM_TOKEN).filter(|_| token.is_none());
    if theirs.is_some() {
        said.push(format!("{ROOM_TOKEN} is the token (ours: VIBE_RELAY_TOKEN)"));
    }
    let token = token.or(theirs);
    match [DB_PATH, PORT, HOST].into_iter().find(|name| read(name).is_some()) {
        Some(variable) if token.is_none() => Err(CliError::NoAgentToken { variable }),
        _ => Ok((token, hint(&said))),
    }
}

/// Whether the database in use is the one that a variable names, which may be written with `~` or relative to the current folder.
fn stands_for(path: &str, db_path: &Path) -> bool {
    db_path.ends_with(path.trim_start_matches("~/").trim_start_matches("./"))
}

fn hint(said: &[String]) -> Option<String> {
    (!said.is_empty()).then(|| format!("vibe-relay: {}", said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[(&str, &str)] = &[(DB_PATH, "~/.dead-drop/messages.db"), (PORT, "9501"), (HOST, "0.0.0.0"), (ROOM_TOKEN, "room")];

    fn reader(set: &[(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn what_is_missing_is_stood_in_for_and_said_in_one_line() {
        let db = Path::new("/home/mara/.dead-drop/messages.db");
        let (port, hint) = for_server(None, db, reader(ALL));
        assert_eq!(port, Some(9501));
        insta::assert_snapshot!(hint.unwrap(), @r#"vibe-relay: DEAD_DROP_DB_PATH names the database (ours: "db_path" in vibe-relay.config.json); DEAD_DROP_PORT names the port (ours: --port); DEAD_DROP_HOST is left out, for the board listens on 127.0.0.1 alone and not on 0.0.0.0"#);
        let (token, hint) = for_bridge(None, db, reader(ALL)).unwrap();
        assert_eq!(token.as_deref(), Some("room"));
        insta::assert_snapshot!(hint.unwrap(), @"vibe-relay: DEAD_DROP_DB_PATH names the database (ours: VIBE_RELAY_DB); DEAD_DROP_ROOM_TOKEN is the token (ours: VIBE_RELAY_TOKEN)");
    }

    #[test]
    fn ours_comes_first_and_nothing_is_said() {
        let db = Path::new("/data/board.db");
        assert_eq!(for_server(Some(9400), db, reader(&[(DB_PATH, "/x/y.db"), (PORT, "9501"), (HOST, "127.0.0.1")])), (Some(9400), None));
        let ours = Some("own".to_owned());
        let read = reader(&[("VIBE_RELAY_DB", "/data/board.db"), (ROOM_TOKEN, "room"), (DB_PATH, "/x/y.db")]);
        assert_eq!(for_bridge(ours.clone(), db, read).unwrap(), (ours, None));
        assert_eq!(for_server(None, db, reader(&[])), (None, None));
    }

    #[test]
    fn an_agent_without_a_token_does_not_act_as_the_person() {
        let db = Path::new("/home/mara/.dead-drop/messages.db");
        for set in [ALL[0], ALL[1], ALL[2]] {
            for ours in [&[set][..], &[set, ("VIBE_RELAY_DB", "/data/board.db")]] {
                let refused = for_bridge(None, db, reader(ours)).unwrap_err();
                assert!(matches!(refused, CliError::NoAgentToken { variable } if variable == set.0), "{refused}");
            }
            assert_eq!(for_bridge(Some("own".to_owned()), db, reader(&[set])).unwrap().0.as_deref(), Some("own"));
        }
        assert_eq!(for_bridge(None, db, reader(&[])).unwrap(), (None, None), "the person's own client needs none");
        assert_eq!(for_bridge(None, db, reader(&[("VIBE_RELAY_DB", "/data/board.db")])).unwrap(), (None, None));
        insta::assert_snapshot!(CliError::NoAgentToken { variable: DB_PATH }, @"DEAD_DROP_DB_PATH is set as for an agent, and no token says which: without one everything would be done in the person's name. Make one on the running board with `vibe-relay token new --agent NAME --role ROLE` and set it as VIBE_RELAY_TOKEN; for a client of the person's own, take DEAD_DROP_DB_PATH away");
    }

    #[test]
    fn a_port_that_is_none_is_left_out() {
        let (port, hint) = for_server(None, Path::new("/data/board.db"), reader(&[(PORT, "many")]));
        assert_eq!(port, None);
        assert!(hint.unwrap().contains("many is no port"));
    }
}
