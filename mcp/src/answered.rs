//! Answers that contained messages of an inbox, until a later call of the same agent confirms that they arrived.
//!
//! A message is shown again only if its answer was not written to the end, or if the same call is repeated. Nothing here survives the process:
//! after a restart, the messages of the last answers are shown once more. It must not know how messages are stored.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use db::Caller;
use hyper::body::{Frame, SizeHint};

/// Whether the response to a request was written to its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written(Arc<AtomicBool>);

impl Written {
    /// Watches a response until its body ends. A client that leaves earlier has no answer.
    pub(crate) fn watch(self, response: Response) -> Response {
        response.map(|body| Body::new(WatchedBody { body, written: self }))
    }

    fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Whether nobody writes the response anymore.
    fn is_dropped(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

struct WatchedBody {
    body: Body,
    written: Written,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        // A body of known length is not polled after its last frame.
        let is_end = match &polled {
            Poll::Ready(None) => true,
            Poll::Ready(Some(Ok(_))) => self.body.is_end_stream(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if is_end {
            self.written.0.store(true, Ordering::Release);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer with messages.
#[derive(Debug)]
struct Answer {
    /// The client's id of the call.
    call: Option<String>,
    messages: Vec<i64>,
    written: Written,
}

/// The answers of all agents that are not confirmed.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<String, Vec<Answer>>>);

impl Answers {
    /// Records that the answer to a call contains messages.
    pub(crate) fn add(&self, caller: &Caller, messages: Vec<i64>, written: Written) {
        if let Some((agent, call)) = agent_of(caller).filter(|_| !messages.is_empty()) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(agent).or_default().push(Answer { call, messages, written });
        }
    }

    /// Returns the messages of earlier answers that this call confirms. Lost answers are forgotten, and those that are still written stay.
    pub(crate) fn confirmed_by(&self, caller: &Caller) -> Vec<i64> {
        let Some((agent, call)) = agent_of(caller) else { return Vec::new() };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(answers) = all.get_mut(&agent) else { return Vec::new() };
        let mut confirmed = Vec::new();
        answers.retain(|answer| {
            let is_repetition = call.is_some() && answer.call == call;
            match (answer.written.is_done(), is_repetition) {
                (true, false) => confirmed.extend(&answer.messages),
                (true, true) => {}
                (false, _) => return !answer.written.is_dropped(),
            }
            false
        });
        if answers.is_empty() {
            all.remove(&agent);
        }
        confirmed
    }
}

/// Returns the key of an agent, and the id of its call. A run is another reader than the one before it.
fn agent_of(caller: &Caller) -> Option<(String, Option<String>)> {
    match caller {
        Caller::Run(run) => Some((run.run_id.to_string(), run.call_id.clone())),
        Caller::Agent(agent) => Some((format!("{}/{}", agent.project_id, agent.name), agent.call_id.clone())),
        Caller::Person(person) => Some((format!("person {}", person.id), None)),
        Caller::Runner | Caller::Invite(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use futures_util::StreamExt;

    use super::*;

    fn mara(call: Option<&str>) -> Caller {
        Caller::Agent(db::AgentCaller {
            project_id: ProjectId::new(1),
            name: "mara".to_owned(),
            permissions: domain::team::token::Permissions::default(),
            call_id: call.map(str::to_owned),
        })
    }

    async fn read(response: Response) {
        let mut frames = response.into_body().into_data_stream();
        while frames.next().await.is_some() {}
    }

    #[tokio::test]
    async fn later_call_confirms_an_answer_that_was_written() {
        let answers = Answers::default();
        let written = Written::default();
        let response = written.clone().watch(Response::new(Body::from("[]")));
        answers.add(&mara(Some("1")), vec![1, 2], written);
        assert_eq!(answers.confirmed_by(&mara(Some("2"))), [0_i64; 0], "it is still on its way");
        read(response).await;
        assert_eq!(answers.confirmed_by(&mara(Some("3"))), [1, 2]);
        assert_eq!(answers.confirmed_by(&mara(Some("4"))), [0_i64; 0], "once");
    }

    #[tokio::test]
    async fn lost_and_repeated_answers_confirm_nothing() {
        let answers = Answers::default();
        let written = Written::default();
        let response = written.clone().watch(Response::new(Body::from_stream(futures_util::stream::iter([Ok::<_, axum::Error>("["), Ok("]")]))));
        answers.add(&mara(Some("1")), vec![1], written);
        drop(response);
        assert_eq!(answers.confirmed_by(&mara(Some("2"))), [0_i64; 0], "the connection broke");
        let written = Written::default();
        let response = written.clone().watch(Response::new(Body::from("[]")));
        answers.add(&mara(Some("3")), vec![1], written);
        read(response).await;
        assert_eq!(answers.confirmed_by(&mara(Some("3"))), [0_i64; 0], "the same call is retried");
        assert_eq!(answers.confirmed_by(&mara(Some("4"))), [0_i64; 0]);
    }
}
