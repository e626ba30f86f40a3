//! A webhook of a running server: a decision reaches a receiver that fails at first, signed and after a pause.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::team::webhook::{NotificationKind, Secret, TimeOfDay, Webhook};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::support::{self, add, at_work};

const SCENARIO: &str = include_str!("../../scenarios/questions.json");
const SECRET: &str = "a secret of this test";
/// The first pause takes 10 seconds.
const DEADLINE: Duration = Duration::from_secs(90);

type Requests = mpsc::UnboundedSender<(HeaderMap, String)>;

/// Refuses the first request.
async fn receive(State(requests): State<(Requests, std::sync::Arc<std::sync::atomic::AtomicBool>)>, headers: HeaderMap, body: String) -> StatusCode {
    let is_first = !requests.1.swap(true, std::sync::atomic::Ordering::SeqCst);
    requests.0.send((headers, body)).unwrap();
    if is_first { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::NO_CONTENT }
}

fn signature(headers: &HeaderMap, body: &str) -> String {
    let header = |name: &str| headers[name].to_str().unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("{}.{}.{body}", header("webhook-id"), header("webhook-timestamp")).as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[tokio::test]
async fn refused_notification_is_sent_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, mut requests) = mpsc::unbounded_channel();
    let router = Router::new().route("/hook", post(receive)).with_state((sender, std::sync::Arc::default()));
    tokio::spawn(async { axum::serve(listener, router).await });
    let server = support::scripted_with(SCENARIO, |options| {
        options.environment.push(("HOOK_SECRET".to_owned(), SECRET.to_owned()));
        options.config.webhooks = vec![Webhook {
            url,
            secret_file: None,
            secret_env: Some("HOOK_SECRET".to_owned()),
            events: vec![NotificationKind::NeedsYou],
            morning_at: TimeOfDay::default(),
            secret: Secret::default(),
        }];
    })
    .await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Choose the paint").await;
    at_work(&server, &task).await;
    support::open(&server, task.as_str());

    let mut ids = Vec::new();
    for attempt in 1..=2 {
        let (headers, body) = tokio::time::timeout(DEADLINE, requests.recv()).await.unwrap().unwrap();
        assert_eq!(headers["webhook-signature"], signature(&headers, &body).as_str(), "attempt {attempt}");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&body["type"], &body["data"]["task_id"]), (&"needs_you".into(), &task.as_str().into()), "{body}");
        assert_eq!((&body["data"]["action"], &body["data"]["reason"]), (&"answer".into(), &"Which colour?".into()), "{body}");
        ids.push(headers["webhook-id"].clone());
    }
    assert_eq!(ids[0], ids[1], "the receiver can see that it is the same");
}
