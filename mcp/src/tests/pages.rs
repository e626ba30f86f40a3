//! Long lists: each comes in pages that together hold everything.

use db::Caller;
use domain::board::goal::NewGoal;
use domain::board::task::NewTask;
use domain::id::{GoalId, TaskId};
use serde_json::json;

use super::fixture::{Board, done};

impl Board {
    /// Tasks with long titles, assigned to someone and under a goal.
    pub(super) async fn many_tasks(&self, count: usize, assignee: Option<&str>, goal: Option<&GoalId>) -> Vec<TaskId> {
        let mut tasks = Vec::new();
        for place in 0..count {
            let new = NewTask {
                title: format!("{place} {}", "t".repeat(100)),
                description: None,
                phase: None,
                parent_task_id: None,
                depends_on: Vec::new(),
                priority: None,
                files: Vec::new(),
                model: None,
                start: false,
                assigned_to: assignee.map(str::to_owned),
                role_hat: None,
                goal_id: goal.cloned(),
                from_branch: None,
            };
            tasks.push(self.db.create_task(&Caller::owner(), &self.project.id, new).await.unwrap().card.id);
        }
        tasks
    }
}

#[tokio::test]
async fn pages_contain_every_item() {
    let board = Board::new().await;
    let mara = board.agent("mara", &[]).await;
    let goal = NewGoal { title: "Much".to_owned(), description: None };
    let goal = board.db.create_goal(&Caller::owner(), &board.project.id, goal).await.unwrap().id;
    let tasks = board.many_tasks(150, Some("mara"), Some(&goal)).await;
    let client = board.serve().await.modern(&mara).await;
    for (tool, given) in [("get_my_tasks", json!({})), ("goal_status", json!({"goal_id": goal})), ("list_tasks", json!({"assigned_to": "mara"}))] {
        let (mut seen, mut pages, mut arguments) = (Vec::new(), 0, given.clone());
        loop {
            let page = done(&client, tool, arguments).await;
            assert!(page.text.len() <= 40_000 && page.data.to_string().len() <= 40_000, "{tool}: {}", page.text.len());
            seen.extend(page.data["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()));
            pages += 1;
            let Some(next) = page.data["next"].as_str() else { break };
            assert!(page.text.contains(&format!("More tasks follow: call {tool} with after={next}.")), "{tool}");
            arguments = given.clone();
            arguments["after"] = json!(next);
        }
        assert!(pages > 1, "{tool}");
        assert_eq!(seen, tasks.iter().map(|task| task.as_str().to_owned()).collect::<Vec<_>>(), "{tool}");
    }
}
