//! `vibe-relay tail`: prints events as they happen. Reconnects when the board restarts and continues after the last event.
//!
//! Must not interpret events: a line shows what an event holds, whatever its kind.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use domain::board::project::Project;
use domain::config::Config;
use domain::event::{Envelope, Seq};
use domain::id::ProjectId;
use domain::text::excerpt;
use domain::wire::Frame;
use futures_util::StreamExt;
use serde_json::Value;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use crate::args::Tail;
use crate::client::{BoardSocket, Client};
use crate::error::CliError;
use crate::signals::StopSignals;
use crate::{id, output, settings};

/// The pause before a reconnect; a restart of the board takes about as long.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// The longest value of a field in a line.
const MAX_VALUE_LENGTH: usize = 80;

/// Prints events until a signal, or until nobody can read them.
///
/// # Errors
/// When no board is running at the start, or the project does not exist.
pub(crate) async fn run(config: Option<&Path>, options: &Tail) -> Result<(), CliError> {
    let config = settings::config(config)?;
    let project = options.project.as_deref().map(id::project).transpose()?;
    let client = Client::new(&config)?;
    if let Some(project) = &project {
        client.get::<Project>(&format!("/api/projects/{project}")).await?;
    }
    let mut signals = StopSignals::listen()?;
    let mut reader = Reader { config, project, json: output::is_json(), position: None };
    tokio::select! {
        result = reader.follow() => result,
        () = signals.wait() => Ok(()),
        () = output::closed() => Ok(()),
    }
}

/// The event log as far as it was printed.
struct Reader {
    config: Config,
    project: Option<ProjectId>,
    json: bool,
    /// The last event, and the epoch of the log that it belongs to.
    position: Option<(Seq, String)>,
}

impl Reader {
    /// Reads one connection after another.
    async fn follow(&mut self) -> Result<(), CliError> {
        loop {
            if let Some(mut socket) = self.connect().await? {
                if self.read(&mut socket).await.is_break() {
                    return Ok(());
                }
                output::hint("vibe-relay: the connection was lost; reconnecting");
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    /// Connects to the board wherever it is now. The first connection must succeed; later ones return `None` while the board is down.
    async fn connect(&self) -> Result<Option<BoardSocket>, CliError> {
        let client = match Client::new(&self.config) {
            Ok(client) => client,
            Err(_) if self.position.is_some() => return Ok(None),
            Err(error) => return Err(error),
        };
        match client.web_socket(&self.address()).await? {
            Ok(socket) => Ok(Some(socket)),
            // A server that answers with a status will not change its mind.
            Err(SocketError::Http(answer)) => Err(client.no_answer(answer.status())),
            Err(_) if self.position.is_some() => Ok(None),
            Err(error) => Err(client.no_answer(error)),
        }
    }

    fn address(&self) -> String {
        let project = self.project.iter().map(|project| format!("project={project}"));
        let position = self.position.iter().map(|(seq, epoch)| format!("after={seq}&epoch={epoch}"));
        format!("/api/ws?{}", project.chain(position).collect::<Vec<_>>().join("&"))
    }

    /// Prints what a connection sends. Breaks when standard output cannot be written.
    async fn read(&mut self, socket: &mut BoardSocket) -> ControlFlow<()> {
        let mut greeting = None;
        while let Some(Ok(message)) = socket.next().await {
            let Message::Text(text) = message else { continue };
            // A newer server may send frames that are unknown here.
            let frame = serde_json::from_str::<Frame>(&text).ok();
            let line = match &frame {
                _ if self.json => Some(text.to_string()),
                Some(Frame::Event { event }) => Some(event_line(event)),
                _ => None,
            };
            line.into_iter().for_each(output::line);
            if output::is_over() {
                return ControlFlow::Break(());
            }
            match frame {
                // A first connection starts here; a later one is sent the events since the last one before anything else.
                Some(Frame::Hello { epoch, seq }) => {
                    if self.position.is_none() {
                        output::hint("Events appear here as they happen, until you press Ctrl+C.");
                    }
                    greeting = Some((seq, epoch));
                    self.position = self.position.take().or_else(|| greeting.clone());
                }
                Some(Frame::Event { event }) => self.position = self.position.take().map(|(_, epoch)| (event.seq, epoch)),
                Some(Frame::Resync {}) => {
                    output::hint("vibe-relay: the log cannot be continued after the last event; some events may be missing");
                    self.position = greeting.clone();
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

/// An event in one line: time, number, actor, kind, what it is about, and its fields.
fn event_line(envelope: &Envelope) -> String {
    let mut line = format!("{}  #{}  {}  {}", envelope.at, envelope.seq, envelope.actor, envelope.event.kind());
    let subject = envelope.task_id.as_ref().map(ToString::to_string).or_else(|| envelope.project_id.as_ref().map(ToString::to_string));
    let title = envelope.card.as_ref().map(|card| &card.title).or_else(|| envelope.project.as_ref().map(|project| &project.title));
    for text in subject.into_iter().chain(title.map(|title| format!("\"{}\"", excerpt(title, MAX_VALUE_LENGTH)))) {
        line += &format!("  {text}");
    }
    if let Ok(Value::Object(fields)) = serde_json::to_value(&envelope.event) {
        for (name, value) in fields.iter().filter(|(name, value)| *name != "kind" && !value.is_null()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            line += &format!("  {name}={}", excerpt(&value, MAX_VALUE_LENGTH));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use domain::actor::Actor;
    use domain::board::status::Status;
    use domain::board::task::event::TaskEvent;
    use domain::id::TaskId;

    use super::*;

    #[test]
    fn event_line_shows_fields_without_empty_ones() {
        let envelope = Envelope {
            seq: 42,
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
            project_id: Some(ProjectId::new(1)),
            task_id: Some(TaskId::new(2)),
            run_id: None,
            actor: Actor::Agent("coder-TASK-002".to_owned()),
            event: TaskEvent::Moved { from: Status::Backlog, to: Status::InProgress, reason: None }.into(),
            card: None,
            project: None,
        };
        insta::assert_snapshot!(event_line(&envelope), @"2026-01-02T03:04:05.000Z  #42  coder-TASK-002  task_moved  TASK-002  from=backlog  to=in_progress");
        let edited = Envelope { task_id: None, event: TaskEvent::Edited { fields: vec!["title\n".to_owned(), "x".repeat(200)] }.into(), ..envelope };
        let line = event_line(&edited);
        assert!(!line.contains('\n') && line.len() < 200, "{line}");
    }
}
