//! Webhooks with a local receiver that fails, hangs and misses the server's restarts.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::{Db, WebhookProgress};
use domain::board::attention::AttentionKind;
use domain::config::Config;
use domain::config::live::LiveConfig;
use domain::id::TaskId;
use domain::team::webhook::{MAX_TRIES, NotificationKind, Secret, TimeOfDay, Webhook};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::support::TestServer;

const SECRET: &str = "0123456789abcdef";
/// Far longer than any step here takes.
const DEADLINE: Duration = Duration::from_secs(30);

/// A request that the receiver got.
#[derive(Debug)]
struct Received {
    id: String,
    body: Value,
}

/// The answers of a receiver, first to last; afterwards it accepts everything. None never comes.
type Answers = Arc<Mutex<VecDeque<Option<StatusCode>>>>;

struct Receiver {
    webhook: Webhook,
    requests: mpsc::UnboundedReceiver<Received>,
}

#[derive(Clone)]
struct Handler {
    answers: Answers,
    requests: mpsc::UnboundedSender<Received>,
}

impl Receiver {
    async fn new(answers: &[Option<StatusCode>]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?key=1", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::unbounded_channel();
        let answers: Answers = Arc::new(Mutex::new(answers.iter().copied().collect()));
        let handler = Handler { answers, requests: sender };
        let router = Router::new().route("/hook", post(receive)).with_state(handler);
        tokio::spawn(async { axum::serve(listener, router).await });
        let webhook = Webhook {
            url,
            secret_file: None,
            secret_env: Some("SECRET".to_owned()),
            events: vec![NotificationKind::NeedsYou, NotificationKind::Complete],
            morning_at: TimeOfDay::default(),
            secret: Secret::parse(SECRET).unwrap(),
        };
        Self { webhook, requests }
    }

    async fn next(&mut self) -> Received {
        timeout(DEADLINE, self.requests.recv()).await.unwrap().unwrap()
    }

    /// Waits until the stored progress is as expected.
    async fn wait(&self, db: &Db, expected: impl Fn(&WebhookProgress) -> bool) -> WebhookProgress {
        let poll = async {
            loop {
                let progress = db.webhook_progress(&self.webhook.url).await.unwrap();
                if expected(&progress) {
                    return progress;
                }
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(DEADLINE, poll).await.unwrap()
    }
}

async fn receive(State(handler): State<Handler>, headers: HeaderMap, body: String) -> StatusCode {
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let (id, signature) = (header("webhook-id"), header("webhook-signature"));
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("{id}.{}.{body}", header("webhook-timestamp")).as_bytes());
    mac.verify_slice(&STANDARD.decode(signature.strip_prefix("v1,").unwrap()).unwrap()).unwrap();
    let answer = handler.answers.lock().unwrap().pop_front().unwrap_or(Some(StatusCode::NO_CONTENT));
    handler.requests.send(Received { id, body: serde_json::from_str(&body).unwrap() }).unwrap();
    match answer {
        Some(status) => status,
        None => std::future::pending().await,
    }
}

/// The senders of a running server.
struct Running {
    shutdown: CancellationToken,
    senders: JoinHandle<()>,
    config: watch::Sender<LiveConfig>,
}

impl Running {
    fn start(db: &Db, webhooks: &[&Webhook]) -> Self {
        let webhooks = webhooks.iter().map(|webhook| (*webhook).clone()).collect();
        let config = watch::Sender::new(LiveConfig { config: Config { webhooks, ..Config::default() }, notice: None });
        let shutdown = CancellationToken::new();
        let senders = tokio::spawn(crate::send_notifications(db.clone(), config.subscribe(), shutdown.clone()));
        Self { shutdown, senders, config }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        timeout(DEADLINE, self.senders).await.unwrap().unwrap();
    }
}

/// A board with one task, whose later events the webhooks are told.
async fn board(webhooks: &[&Webhook]) -> (TestServer, TaskId) {
    let server = TestServer::new().await;
    let task = server.task(&server.project().await).await.card.id;
    for webhook in webhooks {
        server.state.db.webhook_progress(&webhook.url).await.unwrap();
    }
    (server, task)
}

async fn need_the_human(db: &Db, task: &TaskId, detail: &str) {
    db.request_attention(task, AttentionKind::Failed, detail).await.unwrap();
}

/// Sets the next try of a webhook to now.
async fn end_pause(db: &Db, webhook: &Webhook) {
    let progress = db.webhook_progress(&webhook.url).await.unwrap();
    db.record_webhook_progress(&webhook.url, WebhookProgress { retry_at: Some(db::now()), ..progress }).await.unwrap();
}

#[tokio::test]
async fn failed_notification_is_repeated_after_a_restart_and_no_other() {
    let mut receiver = Receiver::new(&[Some(StatusCode::INTERNAL_SERVER_ERROR), Some(StatusCode::FOUND)]).await;
    let (server, task) = board(&[&receiver.webhook]).await;
    let db = &server.state.db;
    need_the_human(db, &task, "Three attempts failed").await;

    let mut ids = Vec::new();
    for failures in 1..=2 {
        let running = Running::start(db, &[&receiver.webhook]);
        ids.push(receiver.next().await.id);
        let progress = receiver.wait(db, |progress| progress.failures == failures).await;
        assert!(progress.retry_at.is_some_and(|at| at > db::now()), "it is not repeated at once");
        running.stop().await;
        end_pause(db, &receiver.webhook).await;
    }
    let running = Running::start(db, &[&receiver.webhook]);
    let Received { id, body } = receiver.next().await;
    ids.push(id);
    assert!(ids.windows(2).all(|ids| ids[0] == ids[1]), "receivers can see a repetition: {ids:?}");
    assert_eq!((&body["type"], &body["data"]["reason"]), (&"needs_you".into(), &"Three attempts failed".into()), "{body}");
    assert_eq!((&body["data"]["task_id"], &body["data"]["action"]), (&task.as_str().into(), &"retry".into()), "{body}");
    receiver.wait(db, |progress| progress.failures == 0).await;
    running.stop().await;

    let running = Running::start(db, &[&receiver.webhook]);
    need_the_human(db, &task, "Another decision").await;
    assert_eq!(receiver.next().await.body["data"]["reason"], "Another decision", "the first one is not repeated");
    running.stop().await;
}

#[tokio::test]
async fn receiver_that_hangs_delays_no_other() {
    let (mut hanging, mut other) = (Receiver::new(&[None]).await, Receiver::new(&[]).await);
    let (server, task) = board(&[&hanging.webhook, &other.webhook]).await;
    let running = Running::start(&server.state.db, &[&hanging.webhook, &other.webhook]);
    need_the_human(&server.state.db, &task, "First").await;
    hanging.next().await;
    assert_eq!(other.next().await.body["data"]["reason"], "First");
    need_the_human(&server.state.db, &task, "Second").await;
    assert_eq!(other.next().await.body["data"]["reason"], "Second");
    running.stop().await;
}

#[tokio::test]
async fn notification_is_dropped_after_the_last_try() {
    let mut receiver = Receiver::new(&[Some(StatusCode::GONE)]).await;
    let (server, task) = board(&[&receiver.webhook]).await;
    let db = &server.state.db;
    let progress = db.webhook_progress(&receiver.webhook.url).await.unwrap();
    let last_try = WebhookProgress { failures: MAX_TRIES - 1, ..progress };
    db.record_webhook_progress(&receiver.webhook.url, last_try).await.unwrap();
    need_the_human(db, &task, "First").await;
    let running = Running::start(db, &[&receiver.webhook]);
    assert_eq!(receiver.next().await.body["data"]["reason"], "First");
    receiver.wait(db, |progress| progress.failures == 0).await;
    need_the_human(db, &task, "Second").await;
    assert_eq!(receiver.next().await.body["data"]["reason"], "Second");
    running.stop().await;
}

#[tokio::test]
async fn failures_of_a_settled_notification_do_not_count() {
    let mut receiver = Receiver::new(&[Some(StatusCode::INTERNAL_SERVER_ERROR), Some(StatusCode::INTERNAL_SERVER_ERROR)]).await;
    let (server, task) = board(&[&receiver.webhook]).await;
    let db = &server.state.db;
    need_the_human(db, &task, "First").await;
    let running = Running::start(db, &[&receiver.webhook]);
    receiver.next().await;
    receiver.wait(db, |progress| progress.failures == 1).await;
    running.stop().await;
    need_the_human(db, &task, "Second").await;
    end_pause(db, &receiver.webhook).await;
    let running = Running::start(db, &[&receiver.webhook]);
    assert_eq!(receiver.next().await.body["data"]["reason"], "Second", "the first decision is replaced");
    let progress = receiver.wait(db, |progress| progress.retry_at.is_some_and(|at| at > db::now())).await;
    assert_eq!(progress.failures, 1);
    running.stop().await;
}

#[tokio::test]
async fn morning_report_covers_the_time_since_the_last_one() {
    let mut receiver = Receiver::new(&[]).await;
    receiver.webhook.events = vec![NotificationKind::Morning];
    let (server, task) = board(&[&receiver.webhook]).await;
    let db = &server.state.db;
    need_the_human(db, &task, "Three attempts failed").await;
    let two_days_ago = db::now().before(Duration::from_secs(48 * 3600));
    let progress = db.webhook_progress(&receiver.webhook.url).await.unwrap();
    db.record_webhook_progress(&receiver.webhook.url, WebhookProgress { reported_until: two_days_ago, ..progress }).await.unwrap();
    let running = Running::start(db, &[&receiver.webhook]);
    let body = receiver.next().await.body;
    assert_eq!((&body["type"], &body["data"]["since"]), (&"morning".into(), &two_days_ago.to_string().into()), "{body}");
    assert_eq!(body["data"]["projects"][0]["needs_you"][0]["reason"], "Three attempts failed");
    let progress = receiver.wait(db, |progress| progress.reported_until > two_days_ago).await;
    assert_eq!(body["data"]["until"], progress.reported_until.to_string(), "the next report begins where this one ends");
    running.stop().await;
}

#[tokio::test]
async fn added_webhook_receives_what_happens_next() {
    let (mut first, mut added) = (Receiver::new(&[]).await, Receiver::new(&[]).await);
    let (server, task) = board(&[&first.webhook]).await;
    let db = &server.state.db;
    let running = Running::start(db, &[&first.webhook]);
    need_the_human(db, &task, "First").await;
    assert_eq!(first.next().await.body["data"]["reason"], "First");
    db.webhook_progress(&added.webhook.url).await.unwrap();
    running.config.send_modify(|live| live.config.webhooks.push(added.webhook.clone()));
    need_the_human(db, &task, "Second").await;
    assert_eq!(added.next().await.body["data"]["reason"], "Second");
    running.stop().await;
}
