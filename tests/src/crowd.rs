//! A crowd of agents from outside that write to each other as fast as they are answered, over HTTP or through bridges of their own. It must
//! count what each sent and was given, and judge nothing.

use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;

use domain::id::ProjectId;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinSet;

use crate::mcp::{self, Answer};
use crate::relay::Relay;

/// How a crowd reaches the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Http,
    Bridges,
}

/// What everybody did together.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls that were answered, refused ones included.
    pub calls: usize,
    /// Sends that were refused because something was unread; each was followed by a look into the inbox.
    pub blocked: usize,
    pub sent: Vec<String>,
    /// What was given as new, by recipient.
    pub received: BTreeMap<String, Vec<String>>,
    /// Answers that should not have been.
    pub errors: Vec<String>,
}

/// One agent and its way to the board.
#[derive(Debug)]
pub struct Member {
    name: String,
    way: Way,
    tally: Tally,
}

#[derive(Debug)]
enum Way {
    Http { client: reqwest::Client, url: String, token: String },
    Bridge(Box<Bridge>),
}

/// A bridge as an agent's program starts it: requests in, answers out, a line each.
#[derive(Debug)]
pub struct Bridge {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last: u64,
}

/// Everybody of a crowd.
#[derive(Debug)]
pub struct Crowd(Vec<Member>);

impl Crowd {
    /// Gives each of `size` agents a token and a way to the board.
    ///
    /// # Errors
    /// The board refuses, or a bridge cannot be started.
    pub async fn gather(relay: &Relay, project: &ProjectId, size: usize, door: Door) -> io::Result<Self> {
        let mut members = Vec::with_capacity(size);
        for number in 0..size {
            let name = format!("{}-{number:02}", if door == Door::Http { "direct" } else { "bridged" });
            let made: Value = relay.post(&format!("/api/projects/{project}/tokens"), &json!({"agent": name, "roles": ["builder"]})).await?;
            let token = made["token"].as_str().unwrap_or_default().to_owned();
            let way = match door {
                Door::Http => Way::Http { client: reqwest::Client::new(), url: relay.url.clone(), token },
                Door::Bridges => Way::Bridge(Box::new(Bridge::start(relay, &token)?)),
            };
            members.push(Member { name, way, tally: Tally::default() });
        }
        Ok(Self(members))
    }

    /// The process ids of the bridges.
    pub fn bridges(&self) -> Vec<u32> {
        let id = |member: &Member| if let Way::Bridge(bridge) = &member.way { bridge.child.id() } else { None };
        self.0.iter().filter_map(id).collect()
    }

    /// Lets everybody send `sends` messages to the next one, looking into their inboxes `reads` times in between and as often as they are
    /// told to, all at once; and at the end read what is left.
    ///
    /// # Errors
    /// The board does not answer.
    pub async fn talk(self, sends: usize, reads: usize) -> io::Result<(Self, Tally)> {
        let names: Vec<String> = self.0.iter().map(|member| member.name.clone()).collect();
        let mut talking = JoinSet::new();
        for (place, mut member) in self.0.into_iter().enumerate() {
            let next = names[(place + 1) % names.len()].clone();
            talking.spawn(async move { member.talk(&next, sends, reads).await.map(|()| member) });
        }
        let mut members = Vec::new();
        while let Some(member) = talking.join_next().await {
            members.push(member.map_err(io::Error::other)??);
        }
        let mut all = Tally::default();
        for member in &mut members {
            member.read().await?;
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
    async fn talk(&mut self, to: &str, sends: usize, reads: usize) -> io::Result<()> {
        for number in 0..sends {
            let content = format!("{} says number {number} of what it has to say to {to} about the work at hand", self.name);
            loop {
                let answer = self.call("send", json!({"to_agent": to, "message": content})).await?;
                match answer.code.as_deref() {
                    None if !answer.is_error => break self.tally.sent.push(content),
                    // The bridge gives the text alone.
                    _ if answer.text.contains("BLOCKED: You have") => {
                        self.tally.blocked += 1;
                        self.read().await?;
                    }
                    _ => break self.tally.errors.push(answer.text),
                }
            }
            if (number + 1) % (sends / reads).max(1) == 0 {
                self.read().await?;
            }
        }
        Ok(())
    }

    /// Looks into the inbox until nothing new is in it.
    async fn read(&mut self) -> io::Result<()> {
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
        match &mut self.way {
            Way::Http { client, url, token } => mcp::call_with(client, url, token, tool, arguments).await,
            Way::Bridge(bridge) => bridge.call(tool, arguments).await,
        }
    }
}

impl Bridge {
    fn start(relay: &Relay, token: &str) -> io::Result<Self> {
        let mut command = relay.command(&["mcp"]);
        command.env("VIBE_RELAY_DB", relay.place().join("data/vibe-relay.db")).env("VIBE_RELAY_TOKEN", token);
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
            // Notifications come in between.
            if answer["id"] == self.last {
                return mcp::answer(&answer);
            }
        }
    }
}
