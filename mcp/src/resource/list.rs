//! Which resources a caller is listed, and the templates of all. It must not know what a resource contains.

use db::{Caller, Db, Error, SessionListQuery};
use domain::context::session::ContextSession;
use domain::id::ProjectId;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};

use super::uri::{BOARD, SESSION};
use super::{JSON, Uri};

/// How many sessions are listed, the newest ones. `list_sessions` finds the others.
const MAX_SESSIONS: u32 = 50;

/// Lists the resources of the caller.
///
/// # Errors
/// When the store fails.
pub(crate) async fn list(db: &Db, caller: &Caller) -> Result<ListResourcesResult, ErrorData> {
    let internal = |error: Error| ErrorData::internal_error(error.to_string(), None);
    let mut resources = match caller {
        Caller::Run(_) | Caller::Agent(_) => {
            let inbox = resource(&Uri::Inbox, "inbox", "The number of your unread messages, and their senders.");
            [inbox].into_iter().chain(caller.project().map(board)).collect()
        }
        Caller::Person(_) | Caller::Runner => db.projects().await.map_err(internal)?.iter().map(|project| board(&project.id)).collect(),
        Caller::Invite(_) => Vec::new(),
    };
    let query = SessionListQuery { project: caller.project().cloned(), limit: Some(MAX_SESSIONS), ..SessionListQuery::default() };
    match db.context_sessions(caller, &query).await {
        Ok(sessions) => resources.extend(sessions.iter().map(session)),
        // A guest, the runner and an agent that left take part in no session.
        Err(Error::Refused(_)) => {}
        Err(error) => return Err(internal(error)),
    }
    if let Ok(reader) = caller.reader() {
        resources.push(resource(&Uri::Memory(reader.name()), "memory", "The values that you and your predecessors stored."));
        resources.push(resource(&Uri::Server, "server", "This server, and what it offers."));
        resources.push(resource(&Uri::Tools, "tools", "Your tools with their arguments."));
    }
    Ok(ListResourcesResult::with_all_items(resources).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

fn resource(uri: &Uri, name: &str, description: &str) -> Resource {
    Resource::new(uri.to_string(), name).with_description(description).with_mime_type(JSON)
}

fn board(project: &ProjectId) -> Resource {
    resource(&Uri::Board(project.clone()), &format!("board of {project}"), "The project with all its tasks.")
}

fn session(session: &ContextSession) -> Resource {
    resource(&Uri::Session(session.id.clone()), &session.purpose, "A session with the newest messages that you may read.")
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |uri: String, name: &str, description: &str| ResourceTemplate::new(uri, name).with_description(description).with_mime_type(JSON);
    ListResourceTemplatesResult::with_all_items(vec![
        template(format!("{BOARD}board/{{project_id}}"), "board", "A project with all its tasks."),
        template(format!("{BOARD}task/{{task_id}}"), "task", "A task with its comments."),
        template(format!("{SESSION}{{session_id}}"), "session", "A context session with its newest messages."),
        template(format!("{SESSION}{{session_id}}/messages/{{limit}}"), "messages", "The newest messages of a context session, oldest first."),
        template("agent://{agent_id}/memory".to_owned(), "memory", "The memory of an agent, which only that agent can read."),
    ])
    .with_ttl_ms(0)
    .with_cache_scope(CacheScope::Private)
}
