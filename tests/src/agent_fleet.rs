//! External agents that exchange messages as fast as the board responds, over HTTP or through bridges. It must only count, not judge what
//! was sent and received.

use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;

use domain::id::ProjectId;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinSet;

use crate::mcp::{self, Answer};
use crate::server::TestServer;

/// How a fleet reaches the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Http,
    Bridges,
}

/// Totals of all agents.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls with a response, including refused ones.
    pub calls: usize,
    /// Sends that were refused because of unread messages. The agent then read its inbox and retried.
    pub blocked: usize,
    pub sent: Vec<String>,
    /// New messages by recipient, without redeliveries.
    pub received: BTreeMap<String, Vec<String>>,
    /// Unexpected errors.
    pub errors: Vec<String>,
}

/// One agent and its connection to the board.
#[derive(Debug)]
pub struct Member {
    name: String,
    connection: Connection,
    tally: Tally,
}

#[derive(Debug)]
enum Connection {
    Http { client: reqwest::Client, url: String, token: String },
    Bridge(Box<Bridge>),
}

/// A bridge as an agent's program starts it, with one JSON line per request and response.
#[derive(Debug)]
pub struct Bridge {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last: u64,
}

/// All agents of a fleet.
#[derive(Debug)]
pub struct AgentFleet(Vec<Member>);

impl AgentFleet {
    /// Creates `size` agents, each with a token and a connection to the board.
    ///
    /// # Errors
    /// The board refuses a token, or a bridge does not start.
    pub async fn start(server: &TestServer, project: &ProjectId, size: usize, transport: Transport) -> io::Result<Self> {
        let mut members = Vec::with_capacity(size);
        for number in 0..size {
            let name = format!("{}-{number:02}", if transport == Transport::Http { "direct" } else { "bridged" });
            let made: Value = server.post(&format!("/api/projects/{project}/tokens"), &json!({"agent": name, "roles": ["builder"]})).await?;
            let token = made["token"].as_str().unwrap_or_default().to_owned();
            let connection = match transport {
                Transport::Http => Connection::Http { client: reqwest::Client::new(), url: server.url.clone(), token },
                Transport::Bridges => Connection::Bridge(Box::new(Bridge::start(server, &token)?)),
            };
            members.push(Member { name, connection, tally: Tally::default() });
        }
        Ok(Self(members))
    }

    /// The process ids of the bridges.
    pub fn bridges(&self) -> Vec<u32> {
        let id = |member: &Member| if let Connection::Bridge(bridge) = &member.connection { bridge.child.id() } else { None };
        self.0.iter().filter_map(id).collect()
    }

    /// Runs all agents concurrently. Each sends `sends` messages to the next one and reads its inbox `reads` times and whenever a send is
    /// refused. At the end, all agents read their remaining messages.
    ///
    /// # Errors
    /// The board does not respond.
    pub async fn exchange_messages(self, sends: usize, reads: usize) -> io::Result<(Self, Tally)> {
        let names: Vec<String> = self.0.iter().map(|member| member.name.clone()).collect();
        let mut running = JoinSet::new();
        for (index, mut member) in self.0.into_iter().enumerate() {
            let next = names[(index + 1) % names.len()].clone();
            running.spawn(async move { member.exchange_messages(&next, sends, reads).await.map(|()| member) });
        }
        let mut members = Vec::new();
        while let Some(member) = running.join_next().await {
            members.push(member.map_err(io::Error::other)??);
        }
        let mut all = Tally::default();
        for member in &mut members {
            member.read_inbox().await?;
            let own = std::mem::take(&mut member.tally);
            all.calls += own.calls;
            all.blocked += own.blocked;
            all.sent.extend(own.sent);
            all.received.extend(own.received);
            all.errors.extend(own.errors);
        }
        Ok((Self(members), all))
    }
}

impl Member {
    async fn exchange_messages(&mut self, to: &str, sends: usize, reads: usize) -> io::Result<()> {
        for number in 0..sends {
            let content = format!("{} sends message number {number} to {to} about the current work of the project", self.name);
            loop {
                let answer = self.call("send", json!({"to_agent": to, "message": content})).await?;
                match answer.code.as_deref() {
                    None if !answer.is_error => break self.tally.sent.push(content),
                    // The bridge returns only text, without a code.
                    _ if answer.text.contains("BLOCKED: You have") => {
                        self.tally.blocked += 1;
                        self.read_inbox().await?;
                    }
                    _ => break self.tally.errors.push(answer.text),
                }
            }
            if (number + 1) % (sends / reads).max(1) == 0 {
                self.read_inbox().await?;
            }
        }
        Ok(())
    }

    /// Reads the inbox once and counts its new messages.
    async fn read_inbox(&mut self) -> io::Result<()> {
        let answer = self.call("check_inbox", json!({})).await?;
        let text = answer.text.split("\nnotices:\n").next().unwrap_or_default();
        if answer.is_error {
            self.tally.errors.push(answer.text);
        } else if text.starts_with('[') {
            let messages: Vec<Value> = serde_json::from_str(text.lines().next().unwrap_or_default()).map_err(io::Error::other)?;
            let new = messages.iter().filter(|message| message["redelivered"] != true);
            let contents = new.filter_map(|message| message["content"].as_str()).map(str::to_owned);
            self.tally.received.entry(self.name.clone()).or_default().extend(contents);
        }
        Ok(())
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> io::Result<Answer> {
        self.tally.calls += 1;
        match &mut self.connection {
            Connection::Http { client, url, token } => mcp::call_with(client, url, token, tool, arguments).await,
            Connection::Bridge(bridge) => bridge.call(tool, arguments).await,
        }
    }
}

impl Bridge {
    fn start(server: &TestServer, token: &str) -> io::Result<Self> {
        let mut command = server.command(&["mcp"]);
        command.env("VIBE_RELAY_DB", server.root().join("data/vibe-relay.db")).env("VIBE_RELAY_TOKEN", token);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("the bridge has no pipes");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?).lines();
        Ok(Self { child, input, output, last: 0 })
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> io::Result<Answer> {
        self.last += 1;
        let mut line = mcp::request(self.last, tool, arguments).to_string();
        line.push('\n');
        self.input.write_all(line.as_bytes()).await?;
        loop {
            let line = self.output.next_line().await?.ok_or_else(|| io::Error::other("the bridge ended"))?;
            let answer: Value = serde_json::from_str(&line)?;
            // The bridge also sends notifications.
            if answer["id"] == self.last {
                return mcp::parse_answer(&answer);
            }
        }
    }
}
