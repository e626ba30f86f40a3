//! The WebSocket over a real connection, and the shutdown of the server.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request};
use db::Caller;
use domain::board::attention::AttentionKind;
use domain::board::task::Task;
use domain::event::Seq;
use domain::id::RunId;
use domain::team::browser_session::{SESSION_KEY_PROTOCOL, SOCKET_PROTOCOL};
use domain::team::person::{NewPerson, OWNER, PersonEvent, PersonRole};
use domain::wire::NewPersonToken;
use domain::wire::{BOARD_HOST, Frame};
use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};

use super::support::{Session, TOKEN, TestServer, VALIDATOR};

/// Far longer than any step here takes.
const DEADLINE: Duration = Duration::from_secs(30);

struct Live {
    server: TestServer,
    task: Task,
    port: u16,
    serving: JoinHandle<()>,
}

type Socket = WebSocketStream<TcpStream>;

impl Live {
    async fn new() -> Self {
        Self::with(Router::new()).await
    }

    async fn with(mounted: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = TestServer::with(|state| state.port = port).await;
        let task = server.task(&server.project().await).await;
        let router = crate::router(server.state.clone(), mounted);
        let serving = tokio::spawn(crate::serve(listener, None, router, server.state.shutdown.clone()));
        Self { server, task, port, serving }
    }

    async fn try_connect(&self, query: &str, headers: &[(&'static str, String)]) -> Result<Socket, tungstenite::Error> {
        let mut request = format!("ws://127.0.0.1:{}/api/ws{query}", self.port).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        tokio_tungstenite::client_async(request, stream).await.map(|(socket, _)| socket)
    }

    /// The headers of a browser that opens a socket from the page at `origin`.
    fn page(&self, session: &Session, origin: &str) -> Vec<(&'static str, String)> {
        let protocols = format!("{SOCKET_PROTOCOL}, {SESSION_KEY_PROTOCOL}{}", session.key);
        let host = format!("{BOARD_HOST}:{}", self.port);
        vec![("cookie", session.cookie.clone()), ("sec-websocket-protocol", protocols), ("host", host), ("origin", origin.to_owned())]
    }

    async fn connect(&self, query: &str) -> Socket {
        self.try_connect(query, &[("authorization", format!("Bearer {TOKEN}"))]).await.unwrap()
    }

    async fn write(&self, content: &str) {
        self.server.state.db.add_comment(&Caller::owner(), &self.task.card.id, content, None).await.unwrap();
    }
}

async fn message(socket: &mut Socket) -> Message {
    timeout(DEADLINE, socket.next()).await.expect("a message in time").expect("an open socket").expect("a whole message")
}

async fn frame(socket: &mut Socket) -> Frame {
    let message = message(socket).await;
    let text = message.to_text().unwrap();
    VALIDATOR.check_frame(text).unwrap();
    serde_json::from_str(text).unwrap()
}

async fn seq(socket: &mut Socket) -> Seq {
    match frame(socket).await {
        Frame::Event { event } => event.seq,
        other => panic!("an event was expected, not {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reconnecting_client_misses_none_of_1000_writes() {
    const WRITES: Seq = 1_000;
    let live = Live::new().await;
    let before = live.server.state.db.latest();
    let writer = async {
        for number in 0..WRITES {
            live.write(&number.to_string()).await;
        }
    };
    let reader = async {
        let mut seen = before;
        let mut connections = 0;
        while seen < before + WRITES {
            connections += 1;
            let mut socket = live.connect(&format!("?after={seen}&epoch={}&project=PROJ-001", live.server.state.db.epoch())).await;
            let Frame::Hello { seq: latest, .. } = frame(&mut socket).await else { panic!("no hello") };
            assert!(latest >= seen);
            for _ in 0..97.min(before + WRITES - seen) {
                let next = seq(&mut socket).await;
                assert_eq!(next, seen + 1, "in order, without a gap, none twice");
                seen = next;
            }
        }
        connections
    };
    let ((), connections) = tokio::join!(writer, reader);
    assert!(connections > 10);
}

#[tokio::test]
async fn stale_epoch_or_large_gap_forces_resync() {
    let live = Live::new().await;
    let latest = live.server.state.db.latest();
    let ahead = format!("?after={}", latest + 1);
    for query in ["?after=0&epoch=another", ahead.as_str()] {
        let mut socket = live.connect(query).await;
        assert!(matches!(frame(&mut socket).await, Frame::Hello { seq, .. } if seq == latest));
        assert_eq!(frame(&mut socket).await, Frame::Resync {}, "{query}");
    }
    join_all((0..5_001).map(|_| live.write("x"))).await;
    let latest = live.server.state.db.latest();
    let mut far = live.connect(&format!("?after={}", latest - 5_001)).await;
    let mut near = live.connect(&format!("?after={}", latest - 5_000)).await;
    frame(&mut far).await;
    frame(&mut near).await;
    assert_eq!(frame(&mut far).await, Frame::Resync {});
    for expected in latest - 4_999..=latest {
        assert_eq!(seq(&mut near).await, expected);
    }
    live.write("y").await;
    assert_eq!((seq(&mut far).await, seq(&mut near).await), (latest + 1, latest + 1), "both continue from here");
}

#[tokio::test]
async fn removed_events_force_a_resync() {
    let live = Live::new().await;
    for _ in 0..5 {
        live.write("x").await;
    }
    let latest = live.server.state.db.latest();
    live.server.state.db.prune(db::RetentionLimits { keep: Duration::from_secs(3600), max_events: 3 }).await.unwrap();
    let mut too_old = live.connect(&format!("?after={}", latest - 4)).await;
    let mut kept = live.connect(&format!("?after={}", latest - 3)).await;
    frame(&mut too_old).await;
    frame(&mut kept).await;
    assert_eq!(frame(&mut too_old).await, Frame::Resync {});
    assert_eq!(seq(&mut kept).await, latest - 2);
}

#[tokio::test]
async fn other_projects_are_filtered_and_activity_is_sent() {
    let live = Live::new().await;
    let other = live.server.project().await;
    let mut socket = live.connect(&format!("?project={other}")).await;
    frame(&mut socket).await;
    live.write("not for this one").await;
    let line = Frame::Activity { run_id: RunId::new(1), line: "reads src/main.rs".into() };
    live.server.state.activity.send_modify(|lines| drop(lines.insert(RunId::new(1), "reads src/main.rs".into())));
    assert_eq!(frame(&mut socket).await, line);
    let task = live.server.task(&other).await;
    let Frame::Event { event } = frame(&mut socket).await else { panic!("no event") };
    assert_eq!(event.task_id, Some(task.card.id));
    // Messages of a client are ignored.
    socket.send(Message::text("{\"type\": \"event\"}")).await.unwrap();
    live.server.task(&other).await;
    seq(&mut socket).await;
}

#[tokio::test]
async fn reloaded_page_gets_the_last_line_of_each_agent_at_work() {
    let live = Live::new().await;
    let activity = &live.server.state.activity;
    let say = |run: u64, line: &str| activity.send_modify(|lines| drop(lines.insert(RunId::new(run), line.into())));
    say(1, "reads a");
    say(2, "runs tests");
    say(1, "writes b");
    say(3, "ends");
    activity.send_modify(|lines| drop(lines.remove(&RunId::new(3))));
    let mut socket = live.connect("").await;
    frame(&mut socket).await;
    for (run, line) in [(1, "writes b"), (2, "runs tests")] {
        assert_eq!(frame(&mut socket).await, Frame::Activity { run_id: RunId::new(run), line: line.into() });
    }
    say(2, "is done");
    assert_eq!(frame(&mut socket).await, Frame::Activity { run_id: RunId::new(2), line: "is done".into() }, "the other line is known");
}

/// The list of projects, the sidebar and the list of what needs the human follow this stream, also for a person who may only read.
#[tokio::test]
async fn viewer_without_a_project_hears_of_every_change_on_all() {
    let live = Live::new().await;
    let db = &live.server.state.db;
    let other = live.server.project().await;
    let viewer = db.add_person(&Caller::owner(), NewPerson { name: "vera".into(), role: Some(PersonRole::Viewer) }).await.unwrap();
    let token = db.create_person_token(&Caller::owner(), viewer.id, NewPersonToken::default()).await.unwrap();
    let mut socket = live.try_connect("", &[("authorization", format!("Bearer {token}"))]).await.unwrap();
    frame(&mut socket).await;
    live.write("on the first project").await;
    let task = live.server.task(&other).await;
    db.request_attention(&task.card.id, AttentionKind::Failed, "3 attempts failed").await.unwrap();
    db.pause_all(&Caller::owner()).await.unwrap();
    let latest = db.latest();
    let mut heard = Vec::new();
    loop {
        let Frame::Event { event } = frame(&mut socket).await else { panic!("no event") };
        heard.push((event.project_id.map(|id| id.to_string()), event.event.kind()));
        if event.seq == latest {
            break;
        }
    }
    let of = |project: Option<&str>, kind| (project.map(str::to_owned), kind);
    let wanted = [of(Some("PROJ-001"), "comment_added"), of(Some("PROJ-002"), "task_needs_you"), of(None, "work_paused")];
    assert!(wanted.iter().all(|event| heard.contains(event)), "{heard:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_client_delays_neither_others_nor_shutdown() {
    let live = Live::new().await;
    let mut stuck = live.connect("").await;
    frame(&mut stuck).await;
    let mut quick = live.connect("").await;
    frame(&mut quick).await;
    // More than the buffers of a connection hold.
    let long = "x".repeat(60_000);
    for number in 0..400 {
        live.server.state.activity.send_modify(|lines| drop(lines.insert(RunId::new(number), long.as_str().into())));
        while !matches!(frame(&mut quick).await, Frame::Activity { run_id, .. } if run_id == RunId::new(number)) {}
    }
    let begun = Instant::now();
    live.server.state.shutdown.cancel();
    timeout(DEADLINE, live.serving).await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn shutdown_closes_sockets_and_is_quick() {
    let endless = axum::routing::get(async || Body::from_stream(futures_util::stream::pending::<Result<String, std::io::Error>>()));
    let live = Live::with(Router::new().route("/mcp", endless)).await;
    let mut socket = live.connect("").await;
    frame(&mut socket).await;
    let mut stream = TcpStream::connect(("127.0.0.1", live.port)).await.unwrap();
    stream.write_all(format!("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", live.port).as_bytes()).await.unwrap();
    let mut begun_answer = [0; 12];
    stream.read_exact(&mut begun_answer).await.unwrap();
    assert_eq!(&begun_answer, b"HTTP/1.1 200");

    let begun = Instant::now();
    live.server.state.shutdown.cancel();
    let Message::Close(Some(close)) = message(&mut socket).await else { panic!("no close frame") };
    assert_eq!(u16::from(close.code), 1001);
    timeout(DEADLINE, live.serving).await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn sockets_of_other_origins_are_refused() {
    let live = Live::new().await;
    let own = format!("http://{BOARD_HOST}:{}", live.port);
    let (session, other) = (Session::open(&live.server, OWNER).await, Session::open(&live.server, OWNER).await);
    let bearer = ("authorization", format!("Bearer {TOKEN}"));
    let refused = |result: Result<Socket, tungstenite::Error>| match result {
        Err(tungstenite::Error::Http(response)) => response.status().as_u16(),
        other => panic!("{other:?}"),
    };
    // The client checks that the answer accepts one of its protocols.
    assert!(live.try_connect("", &live.page(&session, &own)).await.is_ok());
    let without = |name: &str| live.page(&session, &own).into_iter().filter(|(header, _)| *header != name).collect::<Vec<_>>();
    assert_eq!(refused(live.try_connect("", &without("host")).await), 403, "the session is for the board's name");
    assert_eq!(refused(live.try_connect("", &[]).await), 401);
    assert_eq!(refused(live.try_connect("", &without("origin")).await), 403, "a page always sends its origin");
    assert_eq!(refused(live.try_connect("", &without("sec-websocket-protocol")).await), 401, "the cookie alone");
    assert_eq!(refused(live.try_connect("", &without("cookie")).await), 401, "the key alone");
    let mixed = Session { key: other.key, ..session.clone() };
    assert_eq!(refused(live.try_connect("", &live.page(&mixed, &own)).await), 401, "the key of another session");
    for origin in ["http://evil.example", "null", "http://127.0.0.1:3000", "http://vibe-relay.localhost:3000"] {
        assert_eq!(refused(live.try_connect("", &live.page(&session, origin)).await), 403);
        assert_eq!(refused(live.try_connect("", &[bearer.clone(), ("origin", origin.into())]).await), 403);
    }
    let plain = Request::builder().uri("/api/ws").header("host", "127.0.0.1").body(Body::empty()).unwrap();
    assert_eq!(live.server.send(plain).await.status, 403);
}

#[tokio::test]
async fn revoked_sessions_and_tokens_lose_their_sockets() {
    let live = Live::new().await;
    let db = &live.server.state.db;
    let browser = live.page(&Session::open(&live.server, OWNER).await, &format!("http://{BOARD_HOST}:{}", live.port));
    let (mut page, mut program) = (live.try_connect("", &browser).await.unwrap(), live.connect("").await);
    for socket in [&mut page, &mut program] {
        frame(socket).await;
    }
    db.revoke_browser_session(&Caller::owner(), 1).await.unwrap();
    assert_eq!(closed(&mut page).await, 1008);
    assert!(matches!(frame(&mut program).await, Frame::Event { .. }), "the program's stays open");
    db.set_owner("owner", "another").await.unwrap();
    assert_eq!(closed(&mut program).await, 1008);
}

#[tokio::test]
async fn changed_role_is_announced_on_the_persons_socket_which_stays_open() {
    let live = Live::new().await;
    let db = &live.server.state.db;
    let new = NewPerson { name: "ann".to_owned(), role: Some(PersonRole::Member) };
    let id = db.add_person(&Caller::owner(), new).await.unwrap().id;
    let token = db.create_person_token(&Caller::owner(), id, NewPersonToken::default()).await.unwrap();
    let mut socket = live.try_connect("?project=PROJ-001", &[("authorization", format!("Bearer {token}"))]).await.unwrap();
    frame(&mut socket).await;
    db.change_person_role(&Caller::owner(), id, PersonRole::Viewer).await.unwrap();
    let Frame::Event { event } = frame(&mut socket).await else { panic!("no event") };
    assert_eq!(event.event, PersonEvent::RoleChanged { person: "ann".to_owned(), role: PersonRole::Viewer }.into());
    live.write("a viewer goes on reading").await;
    assert_eq!(seq(&mut socket).await, event.seq + 1);
}

/// The close code of the socket, after its last events.
async fn closed(socket: &mut Socket) -> u16 {
    loop {
        if let Message::Close(Some(close)) = message(socket).await {
            return close.code.into();
        }
    }
}

#[tokio::test]
async fn too_large_message_is_answered_with_close_code_1009() {
    let live = Live::new().await;
    for size in [5 * 1024, 3 * 1024 * 1024] {
        let mut socket = live.connect("").await;
        frame(&mut socket).await;
        socket.send(Message::text("x".repeat(size))).await.unwrap();
        let Message::Close(Some(close)) = message(&mut socket).await else { panic!("no close frame") };
        assert_eq!((u16::from(close.code), close.reason.as_str()), (1009, "the message is too large"));
    }
    let mut socket = live.connect("").await;
    frame(&mut socket).await;
    socket.send(Message::text("x".repeat(4 * 1024))).await.unwrap();
    live.write("the largest message is accepted").await;
    seq(&mut socket).await;
}
