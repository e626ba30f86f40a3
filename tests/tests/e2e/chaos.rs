//! A small version of each experiment of the command `chaos`: what it breaks here a few times must cost nothing.

use std::path::Path;
use std::time::Duration;

use tests::chaos::{self, Outcome};

use crate::support::PROGRAM;

fn program() -> &'static Path {
    Path::new(PROGRAM)
}

fn check(outcome: &Outcome) {
    assert_eq!(outcome.violations, [""; 0], "{:#?}", outcome.figures);
}

#[tokio::test]
async fn killed_server_loses_and_doubles_nothing() {
    check(&chaos::killed_server::run(program(), 8).await.unwrap());
}

#[tokio::test]
async fn ended_agents_leave_no_process_in_a_jail() {
    check(&chaos::leftovers::run(program(), 2, 2).await.unwrap());
}

#[tokio::test]
async fn captured_agent_has_no_effect() {
    check(&chaos::captured::run(program()).await.unwrap());
}

#[tokio::test]
async fn restarted_machine_costs_no_attempt() {
    check(&chaos::restart::run(program()).await.unwrap());
}

#[tokio::test]
async fn full_disk_loses_nothing() {
    check(&chaos::disk::run(program(), 1).await.unwrap());
}

#[tokio::test]
async fn agent_without_memory_is_continued() {
    check(&chaos::out_of_memory::run(program()).await.unwrap());
}

#[tokio::test]
async fn broken_bridge_costs_few_runs() {
    check(&chaos::broken_bridge::run(program(), Duration::from_secs(2)).await.unwrap());
}
