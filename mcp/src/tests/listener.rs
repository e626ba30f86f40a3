//! A client that listens for changes, and the changes it receives.

use std::time::Duration;

use db::{AgentCaller, Caller};
use domain::team::message::NewMessage;
use reqwest::{RequestBuilder, Response};
use rmcp::model::{ResourceUpdatedNotificationParam, ServerNotification, SubscriptionFilter};
use rmcp::service::{NotificationContext, Peer, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{ClientHandler, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::fixture::{Board, Era, Server};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Received {
    Tools,
    Resource(String),
    Log(String),
}

#[derive(Debug, Clone)]
pub(super) struct ChangeListener(mpsc::UnboundedSender<Received>);

impl ClientHandler for ChangeListener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send(Received::Tools).unwrap();
    }

    async fn on_resource_updated(&self, updated: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.send(Received::Resource(updated.uri)).unwrap();
    }

    #[expect(deprecated, reason = "the earlier revisions have log messages")]
    async fn on_logging_message(&self, message: rmcp::model::LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        assert_eq!(serde_json::to_value(message.level).unwrap(), "alert");
        self.0.send(Received::Log(message.data.as_str().unwrap().to_owned())).unwrap();
    }
}

pub(super) struct Listening {
    pub(super) client: RunningService<RoleClient, ChangeListener>,
    pub(super) received: mpsc::UnboundedReceiver<Received>,
}

impl Listening {
    /// A client at the other end of `transport` that is told of changed tools, and of these resources.
    pub(super) async fn connect<T, E, A>(transport: T, era: Era, resources: &[&str]) -> Self
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let (sender, received) = mpsc::unbounded_channel();
        let listener = ChangeListener(sender);
        let client = listener.clone().serve_with_lifecycle(transport, era.lifecycle()).await.unwrap();
        if matches!(era, Era::Modern) {
            listen(&client, filter(resources), listener);
        } else {
            for uri in resources {
                subscribe(&client, uri).await;
            }
        }
        Self { client, received }
    }

    /// The next notification.
    pub(super) async fn next(&mut self) -> Received {
        tokio::time::timeout(Duration::from_secs(20), self.received.recv()).await.expect("nothing was received").unwrap()
    }

    /// Waits until this is received, whatever comes before.
    pub(super) async fn until(&mut self, wanted: &Received) {
        while self.next().await != *wanted {}
    }

    /// Waits for changed tools, and in the legacy era for the log message that follows them.
    pub(super) async fn alarm(&mut self, era: Era, alert: &str) {
        self.until(&Received::Tools).await;
        if matches!(era, Era::Legacy) {
            self.until(&Received::Log(alert.to_owned())).await;
        }
    }

    /// The description of `check_inbox` in a fresh list.
    pub(super) async fn description(&self) -> String {
        description(&self.client).await
    }
}

pub(super) async fn description(client: &Peer<RoleClient>) -> String {
    let tools = client.list_tools(None).await.unwrap().tools;
    tools.into_iter().find(|tool| tool.name == "check_inbox").unwrap().description.unwrap().into_owned()
}

/// Passes on what a subscription of the modern era brings, until it ends.
fn listen(client: &Peer<RoleClient>, filter: SubscriptionFilter, listener: ChangeListener) {
    let client = client.clone();
    tokio::spawn(async move {
        let mut subscription = client.listen(filter).await.unwrap();
        while let Ok(Some(notification)) = subscription.next().await {
            let received = match notification {
                ServerNotification::ToolListChangedNotification(_) => Received::Tools,
                ServerNotification::ResourceUpdatedNotification(updated) => Received::Resource(updated.params.uri),
                other => panic!("nobody asked for {other:?}"),
            };
            if listener.0.send(received).is_err() {
                return;
            }
        }
    });
}

impl Server {
    /// A client that is told of changed tools, and of these resources.
    pub(super) async fn listening(&self, token: &str, era: Era, resources: &[&str]) -> Listening {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{}{}", self.url, crate::PATH)).auth_header(token);
        Listening::connect(StreamableHttpClientTransport::from_config(config), era, resources).await
    }
}

/// The same by hand, for what no client would do.
impl Server {
    fn request(&self, request: RequestBuilder, token: &str) -> RequestBuilder {
        request.bearer_auth(token).header("accept", "application/json, text/event-stream").header("content-type", "application/json")
    }

    fn post(&self, token: &str, body: &Value) -> RequestBuilder {
        self.request(reqwest::Client::new().post(format!("{}{}", self.url, crate::PATH)), token).body(body.to_string())
    }

    /// Begins a session of the legacy era and answers its id.
    pub(super) async fn session(&self, token: &str) -> String {
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let begun = self.post(token, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).send().await.unwrap();
        let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = self.within(token, &session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert!(ready.send().await.unwrap().status().is_success());
        session
    }

    /// A message within a session.
    pub(super) fn within(&self, token: &str, session: &str, message: &Value) -> RequestBuilder {
        self.post(token, message).header("mcp-session-id", session)
    }

    /// Opens a session's stream.
    pub(super) async fn stream(&self, token: &str, session: &str) -> Response {
        let request = reqwest::Client::new().get(format!("{}{}", self.url, crate::PATH));
        self.request(request, token).header("mcp-session-id", session).send().await.unwrap()
    }

    /// Listens as clients of the modern era do.
    pub(super) async fn subscription(&self, token: &str) -> Response {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
        let parameters = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": parameters});
        let request = self.post(token, &body).header("mcp-protocol-version", "2026-07-28").header("mcp-method", "subscriptions/listen");
        request.send().await.unwrap()
    }
}

fn filter(resources: &[&str]) -> SubscriptionFilter {
    let filter = SubscriptionFilter::builder().tools_list_changed();
    if resources.is_empty() { filter.build() } else { filter.resource_subscriptions(resources.iter().copied()).build() }
}

#[expect(deprecated, reason = "only the earlier revisions have it")]
async fn subscribe(client: &Peer<RoleClient>, uri: &str) {
    client.subscribe(rmcp::model::SubscribeRequestParams::new(uri)).await.unwrap();
}

impl Board {
    /// An agent of this project, as its token says.
    pub(super) fn caller(&self, name: &str) -> Caller {
        Caller::Agent(AgentCaller {
            project_id: self.project.id.clone(),
            name: name.to_owned(),
            permissions: domain::team::token::Permissions::default(),
            call_id: None,
        })
    }

    pub(super) async fn send_message(&self, from: &Caller, to: &str, content: &str) {
        let message = NewMessage { to: to.to_owned(), content: content.to_owned(), cc: Vec::new(), task_id: None, reply_to: None };
        self.db.send(from, &self.project.id, message).await.unwrap();
    }

    /// Waits until an agent is connected, or disconnected.
    pub(super) async fn until_connected(&self, name: &str, connected: bool) {
        let look = async {
            while self.db.agent(&self.project.id, name).await.unwrap().connected != connected {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), look).await.unwrap_or_else(|_| panic!("{name} does not become connected: {connected}"));
    }
}
