//! A general over MCP: it names the project of a call, and other agents cannot.

use db::Caller;
use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::team::token::{TokenReach, TokenTerms};
use domain::wire::NewProject;
use serde_json::{Value, json};

use super::fixture::{Board, call, done, refused};

#[tokio::test]
async fn general_names_the_project_of_a_call() {
    let board = Board::new().await;
    let probe = repo::probe(board.sample.top(), None).unwrap();
    let new = NewProject { title: "A garden".to_owned(), ..NewProject::default() };
    let there = board.db.create_project(&Caller::owner(), new, probe).await.unwrap();
    let who = Registration { name: "zoe".to_owned(), roles: vec![Role::Lead], ..Registration::default() };
    let terms = TokenTerms { reach: TokenReach::All, ..TokenTerms::default() };
    let token = board.db.create_agent_token(&Caller::owner(), &board.project.id, who, terms).await.unwrap();
    let server = board.serve().await;
    let (zoe, lena) = (server.modern(&token).await, server.modern(&board.agent("lena", &[Role::Lead]).await).await);

    let described = |tools: &[rmcp::model::Tool]| tools.iter().filter(|tool| tool.input_schema["properties"].get("project").is_some()).count();
    let (hers, others) = (zoe.list_all_tools().await.unwrap(), lena.list_all_tools().await.unwrap());
    assert_eq!((described(&hers), described(&others)), (hers.len() - 1, 0), "all but refresh_token");
    let joined = done(&zoe, "register", json!({})).await.text;
    assert!(joined.contains("Name the one that a call is about in its argument project: PROJ-002 (A garden), PROJ-001 (A shop)."), "{joined}");

    let in_garden = |mut arguments: Value| {
        arguments["project"] = json!(there.id);
        arguments
    };
    done(&zoe, "set_battle_plan", in_garden(json!({"plan": "Dig"}))).await;
    let task = done(&zoe, "create_task", in_garden(json!({"title": "Dig a hole"}))).await.data["ids"][0].as_str().unwrap().to_owned();
    // Tools without a project of their own, too.
    let shown = done(&zoe, "get_task", in_garden(json!({"task_id": task}))).await;
    assert!(shown.text.contains("Dig a hole"), "{}", shown.text);
    assert_eq!(call(&zoe, "get_task", json!({"task_id": task})).await.data["code"], "not-found", "her own project is meant otherwise");
    let listed = done(&zoe, "list_tasks", json!({"project": board.project.id})).await.text;
    assert!(!listed.contains("Dig a hole"), "{listed}");
    let who = done(&zoe, "who", in_garden(json!({}))).await;
    assert_eq!(who.data["agents"][0]["name"], "zoe");

    assert!(refused(&lena, "list_tasks", json!({"project": there.id})).await.contains("PROJ-002"));
    assert_eq!(call(&zoe, "list_tasks", json!({"project": "PROJ-099"})).await.data["code"], "not-found");
}
