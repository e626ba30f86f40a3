//! Nothing is wrong with a task, but no agent can work: everything waits, says why, pays no attempt, and goes on by itself.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::parking::{ParkReason, Parking};
use domain::wire::ServerInfo;
use tests::relay::Relay;

use crate::scene::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/parking.json");

/// Waits until a card says that agents are parked, and gives it back with what the server says.
async fn parked(relay: &Relay, project: &ProjectId, task: &TaskId, wanted: ParkReason) -> (Card, Parking) {
    let says = |card: &Card| matches!(card.wait_reason, Some(WaitReason::Parked { reason, .. }) if reason == wanted) && card.run.is_none();
    let board = relay.until(project, &format!("{task} says {wanted}"), |board: &Board| board.card(task).is_some_and(says)).await;
    let server: ServerInfo = relay.get("/api/server").await.unwrap();
    let parking = server.parked.into_iter().find(|parking| parking.reason == wanted).unwrap();
    (board.card(task).unwrap().clone(), parking)
}

/// Nobody was started, so no card moved and nothing was paid.
async fn nothing_began(relay: &Relay, card: &Card) {
    assert_eq!((card.status, card.runs, &card.attention), (Status::Backlog, 0, &None));
    assert_eq!(relay.runs(&card.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_rate_limit_parks_everybody_until_it_is_lifted() {
    let change = |setting: &mut tests::relay::Setting| {
        setting.config.max_attempts = 1;
        setting.environment.push(("CLAUDE_CODE_MAX_RETRIES".to_owned(), "0".to_owned()));
    };
    let relay = scene::scripted_with(SCENARIO, change).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let limited = add(&relay, &project, "Limited").await;
    let (card, parking) = parked(&relay, &project, &limited, ParkReason::RateLimited).await;
    assert_eq!((card.status, card.attention), (Status::InProgress, None), "with one attempt in all, and it is not spent");
    let other = add(&relay, &project, "Other").await;
    let (waiting, _) = parked(&relay, &project, &other, ParkReason::RateLimited).await;
    nothing_began(&relay, &waiting).await;
    assert_eq!(waiting.wait_reason, Some(WaitReason::Parked { reason: ParkReason::RateLimited, until: Some(parking.until) }));

    done(&relay, &project, &limited).await;
    done(&relay, &project, &other).await;
    let runs = relay.runs(&limited).await.unwrap();
    assert_eq!((runs[0].end_class, runs[0].failure), (Some(EndClass::Parked), Some(FailureClass::RateLimited)));
    assert_eq!(runs[0].session_id, runs[1].session_id, "the session goes on");
    assert!(runs[1].started_at >= parking.until, "it was not tried before the limit was lifted");
    let events = relay.events(&project).await.unwrap();
    assert!(events.iter().any(|envelope| matches!(envelope.event, Event::AgentsResumed { reason: ParkReason::RateLimited })));
}

#[tokio::test]
async fn an_outage_parks_everybody_and_one_agent_at_a_time_finds_out_that_it_is_over() {
    let change = |setting: &mut tests::relay::Setting| {
        setting.config.max_attempts = 1;
        setting.environment.push(("CLAUDE_CODE_MAX_RETRIES".to_owned(), "0".to_owned()));
    };
    let relay = scene::scripted_with(SCENARIO, change).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let cut_off = add(&relay, &project, "Cut off").await;
    let (card, _) = parked(&relay, &project, &cut_off, ParkReason::ServiceUnreachable).await;
    assert_eq!((card.status, card.attention), (Status::InProgress, None), "with one attempt in all, and it is not spent");
    let other = add(&relay, &project, "Other").await;
    let (waiting, _) = parked(&relay, &project, &other, ParkReason::ServiceUnreachable).await;
    nothing_began(&relay, &waiting).await;

    done(&relay, &project, &cut_off).await;
    done(&relay, &project, &other).await;
    let runs = relay.runs(&cut_off).await.unwrap();
    let told: Vec<_> = runs.iter().take(2).map(|run| (run.end_class, run.failure)).collect();
    assert_eq!(told, [(Some(EndClass::Parked), Some(FailureClass::ServiceUnreachable)); 2], "the outage lasted for one more try");
    // Whichever of the two has the turn.
    let (mut parked, mut began) = (0, None);
    for envelope in relay.events(&project).await.unwrap() {
        match envelope.event {
            Event::AgentsParked { .. } => {
                assert!(began.is_none_or(|began| began == 1), "{began:?} began while the service was away");
                (parked, began) = (parked + 1, Some(0));
            }
            Event::AgentsResumed { .. } => assert_eq!(began.take(), Some(1), "one found out for all"),
            Event::RunStarted { .. } => began = began.map(|began| began + 1),
            _ => {}
        }
    }
    assert_eq!((parked, began), (2, None));
}

#[tokio::test]
async fn the_limit_of_a_subscription_parks_the_real_program_until_it_is_lifted() {
    let change = |setting: &mut tests::relay::Setting, _: &Path| {
        setting.config.max_attempts = 1;
        setting.environment.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
        setting.environment.push(("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "scripted".to_owned()));
    };
    let (relay, model) = scene::real_with(SCENARIO, change).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let task = add(&relay, &project, "Spent").await;
    let (card, parking) = parked(&relay, &project, &task, ParkReason::RateLimited).await;
    assert_eq!((card.status, &card.attention), (Status::InProgress, &None));
    let runs = relay.runs(&task).await.unwrap();
    let told: Vec<_> = runs.iter().map(|run| (run.end_class, run.failure)).collect();
    assert_eq!(told, [(Some(EndClass::Parked), Some(FailureClass::RateLimited))]);
    let wait = parking.until.since(runs[0].started_at);
    assert!(wait.as_secs().abs_diff(7200) < 120, "until the time that the service named, not {wait:?}");
    assert_eq!(model.requests_of("coder").len(), 1, "the service is left in peace");
}

#[tokio::test]
async fn a_missing_program_is_waited_for() {
    let relay = scene::scripted_with(SCENARIO, |setting| {
        // What is put there later is not Claude Code by name, so nothing else of it is looked at.
        setting.config.agent_command[0] = setting.config.worktrees_path.with_file_name("agent").display().to_string();
    });
    let relay = relay.await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let task = add(&relay, &project, "Errand").await;
    let (card, parking) = parked(&relay, &project, &task, ParkReason::ProgramMissing).await;
    nothing_began(&relay, &card).await;
    let program = relay.place().join("agent");
    assert!(parking.detail.contains(&*program.to_string_lossy()), "{}", parking.detail);

    symlink(scene::PROGRAM, &program).unwrap();
    done(&relay, &project, &task).await;
}

#[tokio::test]
async fn nobody_is_started_while_claude_is_signed_out() {
    let (relay, model) = scene::real_with(SCENARIO, |setting, _| setting.environment.retain(|(name, _)| name != "ANTHROPIC_API_KEY")).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let task = add(&relay, &project, "Errand").await;
    let (card, parking) = parked(&relay, &project, &task, ParkReason::SignedOut).await;
    nothing_began(&relay, &card).await;
    assert!(parking.detail.contains("nobody is signed in"), "{}", parking.detail);
    assert!(model.requests_of("coder").is_empty());
}

#[tokio::test]
async fn root_without_a_sandbox_is_told_before_anything_starts() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("not shown: only root is refused, and this is an ordinary user");
        return;
    }
    let (relay, model) = scene::real_with(SCENARIO, |setting, _| setting.environment.retain(|(name, _)| name != "IS_SANDBOX")).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let task = add(&relay, &project, "Errand").await;
    let (card, parking) = parked(&relay, &project, &task, ParkReason::RootRefused).await;
    nothing_began(&relay, &card).await;
    assert!(parking.detail.contains("IS_SANDBOX=1"), "{}", parking.detail);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn an_agent_that_cannot_reach_the_board_is_ended_and_pays_nothing() {
    let relay = scene::scripted_with(SCENARIO, |setting| {
        setting.config.max_attempts = 1;
        let place = setting.config.worktrees_path.with_file_name("agent.sh");
        without_bridge(&place, &setting.config.agent_command);
        setting.config.agent_command = vec![place.display().to_string()];
    });
    let relay = relay.await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let task = add(&relay, &project, "Errand").await;
    let (card, _) = parked(&relay, &project, &task, ParkReason::McpNotConnected).await;
    assert_eq!(card.attention, None);
    let runs = relay.runs(&task).await.unwrap();
    assert_eq!((runs[0].end_class, runs[0].failure), (Some(EndClass::Parked), Some(FailureClass::McpNotConnected)));
}

/// An agent whose bridge does not start: its configuration is spoilt before the agent reads it.
fn without_bridge(script: &Path, agent: &[String]) {
    let spoil = r#"for argument; do case "$argument" in */mcp.json) sed -i 's|"command":"[^"]*"|"command":"/nonexistent"|' "$argument";; esac; done"#;
    std::fs::write(script, format!("#!/bin/sh\n{spoil}\nexec {} \"$@\"\n", agent.join(" "))).unwrap();
    std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).unwrap();
}
