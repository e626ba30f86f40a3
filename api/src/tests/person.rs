//! Persons as clients: what each role may call, sign-in links, and the end of access.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use db::Caller;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::team::person::{NewPerson, PersonRole};
use domain::wire::NewPersonToken;
use serde_json::json;

use super::attack::request_to;
use super::support::{Answer, BOARD, HOST, Route, Session, TestServer, routes};
use crate::openapi::Access;

/// The routes that only the owner may call.
const OWNER_ROUTES: [(&str, &str); 20] = [
    ("get", "/api/audit"),
    ("get", "/api/audit/check"),
    ("post", "/api/import"),
    ("delete", "/api/memory/{id}"),
    ("get", "/api/memory/{id}"),
    ("patch", "/api/memory/{id}"),
    ("post", "/api/persons"),
    ("delete", "/api/persons/{id}"),
    ("patch", "/api/persons/{id}"),
    ("post", "/api/persons/{id}/token"),
    ("delete", "/api/projects/{id}"),
    ("post", "/api/projects/{id}/access"),
    ("post", "/api/projects/{id}/invite-token"),
    ("get", "/api/projects/{id}/memory"),
    ("post", "/api/projects/{id}/tokens"),
    ("post", "/api/sandbox"),
    ("post", "/api/token/rotate"),
    ("get", "/api/tokens"),
    ("delete", "/api/tokens/{id}"),
    ("patch", "/api/tokens/{id}"),
];

/// Requests with a body that change nothing, which every person may send.
const READER_ROUTES: [(&str, &str); 1] = [("post", "/api/markdown")];

/// A board on which every route finds its object.
async fn board() -> TestServer {
    let server = TestServer::new().await;
    let project = server.project().await;
    let task = server.task(&project).await;
    server.run(&task.card.id, AgentKind::Coder, Status::Backlog).await;
    server
}

/// Adds a person and returns their id and token.
async fn join(server: &TestServer, name: &str, role: PersonRole) -> (i64, String) {
    let new = NewPerson { name: name.to_owned(), role: Some(role) };
    let id = server.state.db.add_person(&Caller::owner(), new).await.unwrap().id;
    (id, server.state.db.create_person_token(&Caller::owner(), id, NewPersonToken::default()).await.unwrap())
}

async fn call(server: &TestServer, route: &Route, token: &str) -> Answer {
    let headers = [("host", HOST.to_owned()), ("authorization", format!("Bearer {token}")), ("content-type", "application/json".to_owned())];
    server.send(request_to(route, &headers)).await
}

#[tokio::test]
async fn viewer_reads_every_route_and_changes_nothing_by_any() {
    let server = board().await;
    let (_, token) = join(&server, "vera", PersonRole::Viewer).await;
    let before = server.state.db.latest();
    let (mut read, mut refused) = (0, 0);
    for route in routes().into_iter().filter(|route| route.access == Access::Person) {
        let answer = call(&server, &route, &token).await;
        if OWNER_ROUTES.contains(&(route.method.as_str(), route.path.as_str())) {
            assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::FORBIDDEN, Some("person-role")), "{route:?}");
        } else if route.method == "get" || READER_ROUTES.contains(&(route.method.as_str(), route.path.as_str())) {
            assert!(![StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&answer.status), "{route:?}: {}", answer.text);
            read += 1;
        } else {
            assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::FORBIDDEN, Some("person-role")), "{route:?}");
            assert!(answer.json()["hint"].as_str().unwrap().contains("the owner"));
            refused += 1;
        }
    }
    assert!(read > 25 && refused > 30, "{read} {refused}");
    assert_eq!(server.state.db.latest(), before, "a viewer changed something");
}

#[tokio::test]
async fn member_calls_every_route_but_those_of_the_owner() {
    let server = board().await;
    let (_, token) = join(&server, "ann", PersonRole::Member).await;
    let mut refused = Vec::new();
    for route in routes().into_iter().filter(|route| route.access == Access::Person) {
        let answer = call(&server, &route, &token).await;
        if answer.status == StatusCode::FORBIDDEN && answer.json()["code"] == "person-role" {
            refused.push((route.method, route.path));
        }
    }
    let refused: Vec<(&str, &str)> = refused.iter().map(|(method, path)| (method.as_str(), path.as_str())).collect();
    assert_eq!(refused, OWNER_ROUTES);
}

#[tokio::test]
async fn person_signs_in_with_their_link_until_they_are_removed() {
    let server = board().await;
    let added = server.call("post", "/api/persons", r#"{"name": "ann", "role": "member"}"#).await.json();
    let created = server.call("post", "/api/persons/2/token", "").await.json();
    let link = created["sign_in_link"].as_str().unwrap();
    let open =
        |link: &str| Request::get(link.strip_prefix(&format!("http://{BOARD}")).unwrap()).header(header::HOST, BOARD).body(Body::empty()).unwrap();
    let signed_in = server.send(open(link)).await;
    let session = Session::of_answer(&signed_in);
    let get = |path: &str| {
        let request = Request::get(path).header(header::HOST, BOARD).header("sec-fetch-site", "same-origin");
        session.headers().into_iter().fold(request, |request, (name, value)| request.header(name, value)).body(Body::empty()).unwrap()
    };
    assert_eq!(server.send(get("/api/server")).await.json()["person"], added);
    let sessions = server.send(get("/api/sessions")).await.json();
    assert_eq!((&sessions["items"][0]["person"], sessions["items"].as_array().unwrap().len()), (&json!("ann"), 1));

    let comment = Request::post("/api/tasks/TASK-001/comments").header(header::HOST, HOST).header("content-type", "application/json");
    let comment = comment.header("authorization", format!("Bearer {}", created["token"].as_str().unwrap()));
    let comment = server.send(comment.body(Body::from(r#"{"content": "Hello"}"#)).unwrap()).await.json();
    assert_eq!((&comment["author_role"], &comment["author_name"]), (&json!("human"), &json!("human/ann")));
    let event = server.state.db.events_after(server.state.db.latest() - 1, None, 1).await.unwrap().remove(0);
    assert_eq!(event.actor.to_string(), "human/ann");

    let unused = server.call("post", "/api/persons/2/token", "").await.json();
    assert_eq!(server.send(get("/api/projects")).await.status, StatusCode::UNAUTHORIZED, "a new token ends the sessions of before");
    assert_eq!(server.call("delete", "/api/persons/2", "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.send(open(unused["sign_in_link"].as_str().unwrap())).await.status, StatusCode::UNAUTHORIZED);
    let owner = server.call("delete", "/api/persons/1", "").await;
    assert_eq!((owner.status, owner.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")));
}

#[tokio::test]
async fn changed_role_applies_to_an_open_session() {
    let server = board().await;
    let (id, _) = join(&server, "ann", PersonRole::Member).await;
    let session = Session::open(&server, id).await;
    let send = async |method: &str, path: &str, body: &str| {
        let request = Request::builder().method(method).uri(path).header(header::HOST, BOARD).header("sec-fetch-site", "same-origin");
        let request = session.headers().into_iter().fold(request, |request, (name, value)| request.header(name, value));
        server.send(request.header("content-type", "application/json").body(Body::from(body.to_owned())).unwrap()).await
    };
    let comment = async || send("POST", "/api/tasks/TASK-001/comments", r#"{"content": "Hello"}"#).await;
    let change = async |role: &str| server.call("patch", &format!("/api/persons/{id}"), &json!({"role": role}).to_string()).await;
    assert_eq!(comment().await.status, StatusCode::CREATED);

    let changed = change("viewer").await;
    assert_eq!((changed.status, &changed.json()["role"]), (StatusCode::OK, &json!("viewer")));
    let refused = comment().await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (StatusCode::FORBIDDEN, Some("person-role")));
    assert_eq!(send("GET", "/api/server", "").await.json()["person"]["role"], "viewer", "the browser stays signed in");
    let own = send("PATCH", &format!("/api/persons/{id}"), r#"{"role": "member"}"#).await;
    assert_eq!(own.json()["code"], "person-role", "nobody gives themself a role");

    change("member").await;
    assert_eq!(comment().await.status, StatusCode::CREATED);
    for (id, role) in [(1, "member"), (id, "owner")] {
        let refused = server.call("patch", &format!("/api/persons/{id}"), &json!({"role": role}).to_string()).await;
        assert_eq!((refused.status, refused.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")), "{role}");
    }
}
