//! Reads and writes the client's messages, one per line, and answers lines that are not valid messages.
//!
//! The SDK's own transport stays silent on malformed JSON and knows no batches. It must not know the server or the meaning of a message.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use hyper::body::Bytes;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::codec::FramedRead;

use self::decoder::{Line, LineDecoder};
use crate::message::{self, InvalidMessage};

mod decoder;

/// The client's messages on a pair of pipes.
pub(crate) struct Lines<R> {
    input: FramedRead<R, LineDecoder>,
    /// Messages of a batch that the SDK has not taken yet.
    received: VecDeque<ClientJsonRpcMessage>,
    /// The protocol revision that the client asked for.
    revision: Option<String>,
    batches: Batches,
    output: Option<mpsc::UnboundedSender<Output>>,
    writer: Option<JoinHandle<()>>,
}

/// A line to write, and who waits until it is written.
struct Output(String, Option<oneshot::Sender<io::Result<()>>>);

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let writer = Some(tokio::spawn(write_lines(receiver, output)));
        let input = FramedRead::new(input, LineDecoder::default());
        Self { input, received: VecDeque::new(), revision: None, batches: Batches::default(), output: Some(sender), writer }
    }

    /// Takes a line apart into messages. Invalid ones are answered at once.
    fn take(&mut self, line: &Bytes) {
        match message::parse(line) {
            Ok(Value::Array(batch)) => self.take_batch(batch),
            Ok(message) => match message::check(&message) {
                Ok(()) => self.accept(&message),
                Err(invalid) => self.answer(&invalid.to_json()),
            },
            Err(invalid) => self.answer(&invalid.to_json()),
        }
    }

    fn take_batch(&mut self, batch: Vec<Value>) {
        if let Err(invalid) = message::check_batch(&batch, self.revision.as_deref()) {
            return self.answer(&invalid.to_json());
        }
        let (mut answers, mut valid) = (Vec::new(), Vec::new());
        for message in batch {
            match message::check_in_batch(&message) {
                Ok(()) => valid.push(message),
                Err(invalid) => answers.push(invalid.to_json()),
            }
        }
        let waiting = valid.iter().filter_map(message::request_id).map(Value::to_string).collect();
        if let Some(answer) = self.batches.open(Batch { waiting, answers }) {
            self.answer(&answer);
        }
        for message in valid {
            self.accept(&message);
        }
    }

    fn accept(&mut self, message: &Value) {
        if message["method"] == "initialize" {
            self.revision = message["params"]["protocolVersion"].as_str().map(str::to_owned);
        }
        if message["method"] == "notifications/cancelled"
            && let Some(answer) = self.batches.close(&message["params"]["requestId"].to_string(), None).flatten()
        {
            self.answer(&answer);
        }
        match ClientJsonRpcMessage::deserialize(message) {
            Ok(message) => self.received.push_back(message),
            Err(error) => self.answer(&InvalidMessage::unreadable(message, &error).to_json()),
        }
    }

    /// Queues the answer, because [`Transport::receive`] may be cancelled while it writes.
    fn answer(&self, answer: &Value) {
        if let Some(output) = &self.output {
            drop(output.send(Output(answer.to_string(), None)));
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, batches) = (self.output.clone(), self.batches.clone());
        async move {
            let message = serde_json::to_value(&message)?;
            let is_answer = message.get("method").is_none();
            let line = match is_answer.then(|| batches.close(&message["id"].to_string(), Some(&message))).flatten() {
                Some(Some(batch)) => batch.to_string(),
                // Other requests of its batch are still being answered.
                Some(None) => return Ok(()),
                None => message.to_string(),
            };
            let (written, done) = oneshot::channel();
            let output = output.ok_or(io::ErrorKind::NotConnected)?;
            output.send(Output(line, Some(written))).map_err(|_| io::ErrorKind::BrokenPipe)?;
            done.await.map_err(|_| io::ErrorKind::BrokenPipe)?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.received.pop_front() {
                return Some(message);
            }
            match self.input.next().await? {
                Ok(Line::Complete(line)) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(Line::Complete(line)) => self.take(&line),
                Ok(Line::TooLong) => self.answer(&InvalidMessage::too_long(decoder::MAX_LINE).to_json()),
                Err(error) => {
                    tracing::error!(%error, "the client's messages could not be read");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        match self.writer.take() {
            Some(writer) => writer.await.map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

async fn write_lines(mut lines: mpsc::UnboundedReceiver<Output>, mut output: impl AsyncWrite + Unpin) {
    while let Some(Output(mut line, written)) = lines.recv().await {
        line.push('\n');
        let result = match output.write_all(line.as_bytes()).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        let is_broken = result.is_err();
        if let Some(written) = written {
            drop(written.send(result));
        }
        if is_broken {
            return;
        }
    }
}

/// The batches whose requests are not all answered.
#[derive(Clone, Default)]
struct Batches(Arc<Mutex<Vec<Batch>>>);

struct Batch {
    /// The ids of the unanswered requests, as JSON.
    waiting: HashSet<String>,
    answers: Vec<Value>,
}

impl Batches {
    /// Adds a batch. Returns its answer if it waits for none.
    fn open(&self, batch: Batch) -> Option<Value> {
        if batch.waiting.is_empty() {
            return (!batch.answers.is_empty()).then_some(Value::Array(batch.answers));
        }
        self.lock().push(batch);
        None
    }

    /// Adds the answer of a request; none if it was cancelled. Returns the answer of the whole batch when it is complete, and nothing when
    /// the request is not part of one.
    fn close(&self, id: &str, answer: Option<&Value>) -> Option<Option<Value>> {
        let mut batches = self.lock();
        let place = batches.iter().position(|batch| batch.waiting.contains(id))?;
        let batch = &mut batches[place];
        batch.waiting.remove(id);
        batch.answers.extend(answer.cloned());
        if !batch.waiting.is_empty() {
            return Some(None);
        }
        let answers = batches.remove(place).answers;
        Some((!answers.is_empty()).then_some(Value::Array(answers)))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
