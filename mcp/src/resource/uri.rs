//! How the addresses of resources are written. It must not know who may read one.

use std::fmt;
use std::str::FromStr;

use rmcp::ErrorData;

use super::{Uri, unknown};

/// The scheme of what belongs to the board. The others are those of shared-context-server.
pub(super) const BOARD: &str = "vibe-relay://";
pub(super) const SESSION: &str = "session://";
const AGENT: &str = "agent://";
const MEMORY: &str = "/memory";
const SERVER: &str = "server://info";
const TOOLS: &str = "docs://tools";

const HINT: &str = "Use vibe-relay://inbox, vibe-relay://board/PROJ-001, vibe-relay://task/TASK-001, session://ID, session://ID/messages/50, agent://YOUR-NAME/memory, server://info or docs://tools.";

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inbox => write!(f, "{BOARD}inbox"),
            Self::Board(project) => write!(f, "{BOARD}board/{project}"),
            Self::Task(task) => write!(f, "{BOARD}task/{task}"),
            Self::Session(session) => write!(f, "{SESSION}{session}"),
            Self::Messages(session, limit) => write!(f, "{SESSION}{session}/messages/{limit}"),
            Self::Memory(agent) => write!(f, "{AGENT}{agent}{MEMORY}"),
            Self::Server => f.write_str(SERVER),
            Self::Tools => f.write_str(TOOLS),
        }
    }
}

impl FromStr for Uri {
    type Err = ErrorData;

    fn from_str(given: &str) -> Result<Self, ErrorData> {
        // Notices repeat the address, so each resource has only one.
        parse(given).filter(|uri| uri.to_string() == given).ok_or_else(|| unknown(given, "not-found", HINT))
    }
}

fn parse(given: &str) -> Option<Uri> {
    if let Some(path) = given.strip_prefix(BOARD) {
        return match path.split_once('/').unwrap_or((path, "")) {
            ("inbox", "") => Some(Uri::Inbox),
            ("board", project) => project.parse().ok().map(Uri::Board),
            ("task", task) => task.parse().ok().map(Uri::Task),
            _ => None,
        };
    }
    if let Some(path) = given.strip_prefix(SESSION) {
        return match path.split_once("/messages/") {
            Some((session, limit)) => Some(Uri::Messages(session.parse().ok()?, limit.parse().ok()?)),
            None => path.parse().ok().map(Uri::Session),
        };
    }
    if let Some(agent) = given.strip_prefix(AGENT).and_then(|path| path.strip_suffix(MEMORY)) {
        // The address is sent in a header too.
        let is_name = !agent.is_empty() && agent.bytes().all(|byte| byte.is_ascii_graphic());
        return is_name.then(|| Uri::Memory(agent.to_owned()));
    }
    match given {
        SERVER => Some(Uri::Server),
        TOOLS => Some(Uri::Tools),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{ProjectId, TaskId};

    use super::*;

    #[test]
    fn uris_round_trip() {
        let session = || "session_0123456789abcdef".parse().unwrap();
        for uri in [
            Uri::Inbox,
            Uri::Board(ProjectId::new(1)),
            Uri::Task(TaskId::new(12)),
            Uri::Session(session()),
            Uri::Messages(session(), 50),
            Uri::Memory("platform/mara".to_owned()),
            Uri::Server,
            Uri::Tools,
        ] {
            assert_eq!(uri.to_string().parse::<Uri>().unwrap(), uri);
        }
    }

    #[test]
    fn everything_else_is_unknown() {
        let long = format!("session://{}", "x".repeat(1 << 20));
        for bad in [
            "",
            "inbox",
            "vibe-relay://inbox/mara",
            "vibe-relay://board/",
            "vibe-relay://task/PROJ-001",
            "file:///etc/passwd",
            "session://",
            "session://short",
            "session://session_a/../b",
            "session://session_0123456789abcdef/messages/",
            "session://session_0123456789abcdef/messages/-1",
            "session://session_0123456789abcdef/messages/050",
            "session://session_0123456789abcdef/messages/99999999999",
            "session://session_0123456789abcdef/private",
            "agent:///memory",
            "agent://ma ra/memory",
            "agent://mära/memory",
            "agent://mara\0/memory",
            "agent://mara",
            "server://info/",
            "docs://tool",
            &long,
        ] {
            let error = bad.parse::<Uri>().unwrap_err();
            assert!(error.message.contains("vibe-relay://board/PROJ-001"), "{bad}: {}", error.message);
        }
    }
}
