//! Environment variables of dead-drop servers, which replace missing variables of vibe-relay.
//!
//! Pure: the caller passes the environment and prints the hint. Must not read a variable outside `variable`.

use std::path::Path;

use crate::error::CliError;

pub(crate) const DB_PATH: &str = "DEAD_DROP_DB_PATH";
const PORT: &str = "DEAD_DROP_PORT";
const HOST: &str = "DEAD_DROP_HOST";
const ROOM_TOKEN: &str = "DEAD_DROP_ROOM_TOKEN";

/// Reads a variable; an empty one counts as unset.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The port to serve on, and a hint about the variables in use. `port` is the requested port, `db_path` the database in use.
pub(crate) fn for_server(port: Option<u16>, db_path: &Path, read: impl Fn(&str) -> Option<String>) -> (Option<u16>, Option<String>) {
    let mut hints = Vec::new();
    match read(DB_PATH) {
        Some(path) if is_same_database(&path, db_path) => {
            hints.push(format!("{DB_PATH} names the database (here: \"db_path\" in vibe-relay.config.json)"));
        }
        Some(_) => hints.push(format!("{DB_PATH} is ignored because the configuration names the database {}", db_path.display())),
        None => {}
    }
    if read(ROOM_TOKEN).is_some() {
        hints.push(format!("{ROOM_TOKEN} is ignored because each agent has a token of its own (here: vibe-relay token new)"));
    }
    if port.is_some() && read(PORT).is_some() {
        hints.push(format!("{PORT} is ignored because --port is given"));
    }
    let wanted = read(PORT).filter(|_| port.is_none());
    let theirs = wanted.as_deref().and_then(|port| port.parse().ok());
    match (&wanted, theirs) {
        (Some(_), Some(_)) => hints.push(format!("{PORT} names the port (here: --port)")),
        (Some(wanted), None) => hints.push(format!("{PORT} is ignored because {wanted} is not a port (here: --port)")),
        (None, _) => {}
    }
    if let Some(host) = read(HOST).filter(|host| !["127.0.0.1", "localhost"].contains(&host.as_str())) {
        hints.push(format!("{HOST} is ignored because the board listens only on 127.0.0.1, not on {host}"));
    }
    (port.or(theirs), joined(&hints))
}

/// The token of the bridge, and a hint about the variables in use. `token` is the value of `VIBE_RELAY_TOKEN`.
///
/// # Errors
/// When the environment is an agent's but holds no token: the agent would act as the human.
pub(crate) fn for_bridge(
    token: Option<String>,
    db_path: &Path,
    read: impl Fn(&str) -> Option<String>,
) -> Result<(Option<String>, Option<String>), CliError> {
    let mut hints = Vec::new();
    match read(DB_PATH) {
        Some(path) if is_same_database(&path, db_path) && read("VIBE_RELAY_DB").is_none() => {
            hints.push(format!("{DB_PATH} names the database (here: VIBE_RELAY_DB)"));
        }
        Some(path) if is_same_database(&path, db_path) => {}
        Some(_) => hints.push(format!("{DB_PATH} is ignored because the database is {}", db_path.display())),
        None => {}
    }
    if token.is_some() && read(ROOM_TOKEN).is_some_and(|theirs| Some(theirs) != token) {
        hints.push(format!("{ROOM_TOKEN} is ignored because VIBE_RELAY_TOKEN is set"));
    }
    let theirs = read(ROOM_TOKEN).filter(|_| token.is_none());
    if theirs.is_some() {
        hints.push(format!("{ROOM_TOKEN} is the token (here: VIBE_RELAY_TOKEN)"));
    }
    let token = token.or(theirs);
    match [DB_PATH, PORT, HOST].into_iter().find(|name| read(name).is_some()) {
        Some(variable) if token.is_none() => Err(CliError::NoAgentToken { variable }),
        _ => Ok((token, joined(&hints))),
    }
}

/// Whether a variable names the database in use. Its path may start with `~` or be relative.
fn is_same_database(path: &str, db_path: &Path) -> bool {
    db_path.ends_with(path.trim_start_matches("~/").trim_start_matches("./"))
}

fn joined(hints: &[String]) -> Option<String> {
    (!hints.is_empty()).then(|| format!("vibe-relay: {}", hints.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[(&str, &str)] = &[(DB_PATH, "~/.dead-drop/messages.db"), (PORT, "9501"), (HOST, "0.0.0.0"), (ROOM_TOKEN, "room")];

    fn reader(set: &[(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn missing_variables_are_replaced_with_a_hint() {
        let db = Path::new("/home/mara/.dead-drop/messages.db");
        let (port, hint) = for_server(None, db, reader(ALL));
        assert_eq!(port, Some(9501));
        insta::assert_snapshot!(hint.unwrap(), @r#"vibe-relay: DEAD_DROP_DB_PATH names the database (here: "db_path" in vibe-relay.config.json); DEAD_DROP_ROOM_TOKEN is ignored because each agent has a token of its own (here: vibe-relay token new); DEAD_DROP_PORT names the port (here: --port); DEAD_DROP_HOST is ignored because the board listens only on 127.0.0.1, not on 0.0.0.0"#);
        let (token, hint) = for_bridge(None, db, reader(ALL)).unwrap();
        assert_eq!(token.as_deref(), Some("room"));
        insta::assert_snapshot!(hint.unwrap(), @"vibe-relay: DEAD_DROP_DB_PATH names the database (here: VIBE_RELAY_DB); DEAD_DROP_ROOM_TOKEN is the token (here: VIBE_RELAY_TOKEN)");
    }

    #[test]
    fn own_variables_win_and_a_hint_says_so() {
        let db = Path::new("/data/board.db");
        let (port, hint) = for_server(Some(9400), db, reader(&[(DB_PATH, "/x/y.db"), (PORT, "9501"), (HOST, "127.0.0.1"), (ROOM_TOKEN, "room")]));
        assert_eq!(port, Some(9400));
        insta::assert_snapshot!(hint.unwrap(), @"vibe-relay: DEAD_DROP_DB_PATH is ignored because the configuration names the database /data/board.db; DEAD_DROP_ROOM_TOKEN is ignored because each agent has a token of its own (here: vibe-relay token new); DEAD_DROP_PORT is ignored because --port is given");
        let ours = Some("own".to_owned());
        let read = reader(&[("VIBE_RELAY_DB", "/data/board.db"), (ROOM_TOKEN, "room"), (DB_PATH, "/x/y.db")]);
        let (token, hint) = for_bridge(ours.clone(), db, read).unwrap();
        assert_eq!(token, ours);
        insta::assert_snapshot!(hint.unwrap(), @"vibe-relay: DEAD_DROP_DB_PATH is ignored because the database is /data/board.db; DEAD_DROP_ROOM_TOKEN is ignored because VIBE_RELAY_TOKEN is set");
        let same = reader(&[("VIBE_RELAY_DB", "/data/board.db"), (ROOM_TOKEN, "own"), (DB_PATH, "/data/board.db")]);
        assert_eq!(for_bridge(ours.clone(), db, same).unwrap(), (ours, None));
        assert_eq!(for_server(None, db, reader(&[])), (None, None));
    }

    #[test]
    fn agent_without_token_is_refused() {
        let db = Path::new("/home/mara/.dead-drop/messages.db");
        for set in [ALL[0], ALL[1], ALL[2]] {
            for ours in [&[set][..], &[set, ("VIBE_RELAY_DB", "/data/board.db")]] {
                let refused = for_bridge(None, db, reader(ours)).unwrap_err();
                assert!(matches!(refused, CliError::NoAgentToken { variable } if variable == set.0), "{refused}");
            }
            assert_eq!(for_bridge(Some("own".to_owned()), db, reader(&[set])).unwrap().0.as_deref(), Some("own"));
        }
        assert_eq!(for_bridge(None, db, reader(&[])).unwrap(), (None, None), "your own client needs none");
        assert_eq!(for_bridge(None, db, reader(&[("VIBE_RELAY_DB", "/data/board.db")])).unwrap(), (None, None));
        insta::assert_snapshot!(CliError::NoAgentToken { variable: DB_PATH }, @"DEAD_DROP_DB_PATH is set, as for an agent, but VIBE_RELAY_TOKEN is not, so the agent would act as you. Create a token on the running board with `vibe-relay token new --agent NAME --role ROLE` and set it as VIBE_RELAY_TOKEN; to connect your own client, unset DEAD_DROP_DB_PATH");
    }

    #[test]
    fn invalid_port_is_ignored() {
        let (port, hint) = for_server(None, Path::new("/data/board.db"), reader(&[(PORT, "many")]));
        assert_eq!(port, None);
        assert!(hint.unwrap().contains("many is not a port"));
    }
}
