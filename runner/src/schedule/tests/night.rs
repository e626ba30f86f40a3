//! A day and a night without a person: 24 simulated hours with every outage on record, failing agents, conflicts and restarts. The schedule and
//! the store are real; agents, repositories and time are not. Everything ends, or waits for the person.

mod fault;
mod world;

use std::time::Duration;

use db::testing::set_time;
use db::{Caller, Db};
use domain::config::{Config, Durability};
use domain::runs::evidence::RepositoryInfo;
use domain::time::Timestamp;
use domain::wire::NewProject;

use fault::outages;
use world::World;

const PROJECTS: u32 = 3;
const TASKS: u32 = 15;

/// Three projects, one of them with a goal that a planner cuts into tasks.
async fn evening(folder: &std::path::Path, start: Timestamp, seed: u64) -> World {
    set_time(start);
    let config = Config { db_path: folder.join("board.db"), durability: Durability::Normal, ..Config::default() };
    let db = Db::open(&config).await.unwrap();
    let world = World::new(db, config, start, seed, outages(start));
    for number in 0..PROJECTS {
        let description = (number == 0).then(|| "A site that says hello".to_owned());
        let new = NewProject { title: format!("Project {number}"), description, ..NewProject::default() };
        let repository = RepositoryInfo {
            repo_path: format!("/home/ann/{number}"),
            git_dir: format!("/home/ann/{number}/.git"),
            base_branch: "main".to_owned(),
            base_sha: "base".to_owned(),
            branches: vec!["main".to_owned()],
            identity: None,
            ..RepositoryInfo::default()
        };
        let project = world.db.create_project(&Caller::owner(), new, repository).await.unwrap().id;
        world.add_tasks(&project, TASKS).await;
    }
    world
}

#[tokio::test]
async fn everything_is_done_or_waits_for_the_person_after_a_day_of_faults() {
    let start = "2026-01-31T18:00:00.000Z".parse::<Timestamp>().unwrap();
    let mut figures = Vec::new();
    for seed in 1..=2 {
        let folder = tempfile::tempdir().unwrap();
        let mut world = evening(folder.path(), start, seed).await;
        world.pass_until(start.after(Duration::from_secs(24 * 3600))).await;
        let morning = world.morning().await;
        assert_eq!(morning.others, [""; 0], "seed {seed}");
        let mut done = 0;
        for project in world.db.projects().await.unwrap() {
            done += world.db.board(&project.id).await.unwrap().finished.done.total;
        }
        let asking: u32 = morning.asking.values().sum();
        assert!(done > 4 * (asking + morning.behind), "seed {seed}: {done} done, {morning:?}");
        figures.push(format!(
            "seed {seed}: {} runs, {done} tasks done, {:?} ask the person, {} wait for those; failures {:?}; runs of each outage {:?}",
            world.runs, morning.asking, morning.behind, world.failures, world.runs_of_outages
        ));
    }
    insta::assert_snapshot!(figures.join("\n"));
}
