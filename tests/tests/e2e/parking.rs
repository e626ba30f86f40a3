//! An outage stops all agents. Cards wait with a reason, use no attempt, and continue by themselves.

use std::os::unix::fs::symlink;
use std::path::Path;

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::parking::{ParkReason, Parking, ParkingEvent};
use domain::runs::run::RunChange;
use domain::wire::ServerInfo;
use tests::chaos::broken_bridge::write_agent_without_bridge;
use tests::server::TestServer;

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/parking.json");

/// Waits until a card shows the parking, and returns the card with the server's parking.
async fn parked(server: &TestServer, project: &ProjectId, task: &TaskId, wanted: ParkReason) -> (Card, Parking) {
    let says = |card: &Card| matches!(card.wait_reason, Some(WaitReason::Parked { reason, .. }) if reason == wanted) && card.run.is_none();
    let board = server.until(project, &format!("{task} says {wanted}"), |board: &Board| board.card(task).is_some_and(says)).await;
    let server: ServerInfo = server.get("/api/server").await.unwrap();
    let parking = server.runner.parked.into_iter().find(|parking| parking.reason == wanted).unwrap();
    (board.card(task).unwrap().clone(), parking)
}

/// Asserts that no agent was started, the card did not move and no attempt was used.
async fn nothing_began(server: &TestServer, card: &Card) {
    assert_eq!((card.status, card.runs, &card.attention), (Status::Backlog, 0, &None));
    assert_eq!(server.runs(&card.id).await.unwrap(), []);
}

#[tokio::test]
async fn rate_limit_parks_all_agents_until_reset() {
    let change = |options: &mut tests::server::ServerOptions| {
        options.config.max_attempts = 1;
        options.environment.push(("CLAUDE_CODE_MAX_RETRIES".to_owned(), "0".to_owned()));
    };
    let server = support::scripted_with(SCENARIO, change).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let limited = add(&server, &project, "Limited").await;
    let (card, parking) = parked(&server, &project, &limited, ParkReason::RateLimited).await;
    assert_eq!((card.status, card.attention), (Status::InProgress, None), "with one attempt in all, and it is not spent");
    let other = add(&server, &project, "Other").await;
    let (waiting, _) = parked(&server, &project, &other, ParkReason::RateLimited).await;
    nothing_began(&server, &waiting).await;
    assert_eq!(waiting.wait_reason, Some(WaitReason::Parked { reason: ParkReason::RateLimited, until: Some(parking.until) }));

    done(&server, &project, &limited).await;
    done(&server, &project, &other).await;
    let runs = server.runs(&limited).await.unwrap();
    assert_eq!((runs[0].end_class, runs[0].failure), (Some(EndClass::Parked), Some(FailureClass::RateLimited)));
    assert_eq!(runs[0].session_id, runs[1].session_id, "the session goes on");
    assert!(runs[1].started_at >= parking.until, "it was not tried before the limit was lifted");
    let events = server.events(&project).await.unwrap();
    assert!(events.iter().any(|envelope| matches!(envelope.event, Event::Parking(ParkingEvent::Resumed { reason: ParkReason::RateLimited }))));
}

#[tokio::test]
async fn outage_parks_all_agents_and_one_probes_recovery() {
    let change = |options: &mut tests::server::ServerOptions| {
        options.config.max_attempts = 1;
        options.environment.push(("CLAUDE_CODE_MAX_RETRIES".to_owned(), "0".to_owned()));
    };
    let server = support::scripted_with(SCENARIO, change).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let cut_off = add(&server, &project, "Cut off").await;
    let (card, _) = parked(&server, &project, &cut_off, ParkReason::ServiceUnreachable).await;
    assert_eq!((card.status, card.attention), (Status::InProgress, None), "with one attempt in all, and it is not spent");
    let other = add(&server, &project, "Other").await;
    let (waiting, _) = parked(&server, &project, &other, ParkReason::ServiceUnreachable).await;
    nothing_began(&server, &waiting).await;

    done(&server, &project, &cut_off).await;
    done(&server, &project, &other).await;
    let runs = server.runs(&cut_off).await.unwrap();
    let told: Vec<_> = runs.iter().take(2).map(|run| (run.end_class, run.failure)).collect();
    assert_eq!(told, [(Some(EndClass::Parked), Some(FailureClass::ServiceUnreachable)); 2], "the outage lasted for one more try");
    // Either of the two cards may probe. A start that was under way when the agents were parked is no probe.
    let (mut parked, mut probes) = (0, None);
    for envelope in server.events(&project).await.unwrap() {
        match envelope.event {
            Event::Parking(ParkingEvent::Parked { parking }) => {
                assert!(probes.is_none_or(|(_, count)| count == 1), "{probes:?} while the service was away");
                (parked, probes) = (parked + 1, Some((parking.until, 0)));
            }
            Event::Parking(ParkingEvent::Resumed { .. }) => assert_eq!(probes.take().map(|(_, count)| count), Some(1), "one probed for all"),
            Event::Run(RunChange::Started { .. }) => probes = probes.map(|(until, count)| (until, count + u32::from(envelope.at >= until))),
            _ => {}
        }
    }
    assert_eq!((parked, probes), (2, None));
}

#[tokio::test]
async fn subscription_limit_parks_the_real_agent_until_reset() {
    let change = |options: &mut tests::server::ServerOptions, _: &Path| {
        options.config.max_attempts = 1;
        options.environment.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
        options.environment.push(("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "scripted".to_owned()));
    };
    let (server, model) = support::real_with(SCENARIO, change).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Spent").await;
    let (card, parking) = parked(&server, &project, &task, ParkReason::RateLimited).await;
    assert_eq!((card.status, &card.attention), (Status::InProgress, &None));
    let runs = server.runs(&task).await.unwrap();
    let told: Vec<_> = runs.iter().map(|run| (run.end_class, run.failure)).collect();
    assert_eq!(told, [(Some(EndClass::Parked), Some(FailureClass::RateLimited))]);
    let wait = parking.until.since(runs[0].started_at);
    assert!(wait.as_secs().abs_diff(7200) < 120, "until the time that the service named, not {wait:?}");
    assert_eq!(model.requests_of("coder").len(), 1, "the service is left in peace");
}

#[tokio::test]
async fn missing_program_parks_until_installed() {
    let server = support::scripted_in(SCENARIO, |options, root| {
        // The program is not named `claude`, so the preflight does not check its version or sign-in.
        let program = root.join("agent");
        symlink(support::PROGRAM, &program).unwrap();
        options.config.agent_command[0] = program.display().to_string();
    });
    let server = server.await;
    let program = server.root().join("agent");
    std::fs::remove_file(&program).unwrap();
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Errand").await;
    let (card, parking) = parked(&server, &project, &task, ParkReason::ProgramMissing).await;
    nothing_began(&server, &card).await;
    assert!(parking.detail.contains(&*program.to_string_lossy()), "{}", parking.detail);

    symlink(support::PROGRAM, &program).unwrap();
    done(&server, &project, &task).await;
}

#[tokio::test]
async fn signed_out_claude_starts_no_agent() {
    let (server, model) = support::real_with(SCENARIO, |options, _| options.environment.retain(|(name, _)| name != "ANTHROPIC_API_KEY")).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Errand").await;
    let (card, parking) = parked(&server, &project, &task, ParkReason::SignedOut).await;
    nothing_began(&server, &card).await;
    assert!(parking.detail.contains("nobody is signed in"), "{}", parking.detail);
    assert!(model.requests_of("coder").is_empty());
}

#[tokio::test]
async fn root_without_sandbox_starts_no_agent() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("not shown: only root is refused, and this is an ordinary user");
        return;
    }
    let (server, model) = support::real_with(SCENARIO, |options, _| options.environment.retain(|(name, _)| name != "IS_SANDBOX")).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Errand").await;
    let (card, parking) = parked(&server, &project, &task, ParkReason::RootRefused).await;
    nothing_began(&server, &card).await;
    assert!(parking.detail.contains("IS_SANDBOX=1"), "{}", parking.detail);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn agent_without_board_is_ended_without_using_an_attempt() {
    let server = support::scripted_with(SCENARIO, |options| {
        options.config.max_attempts = 1;
        let script = options.config.worktrees_path.with_file_name("agent.sh");
        write_agent_without_bridge(&script, &options.config.agent_command).unwrap();
        options.config.agent_command = vec![script.display().to_string()];
    });
    let server = server.await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Errand").await;
    let (card, _) = parked(&server, &project, &task, ParkReason::McpNotConnected).await;
    assert_eq!(card.attention, None);
    let runs = server.runs(&task).await.unwrap();
    assert_eq!((runs[0].end_class, runs[0].failure), (Some(EndClass::Parked), Some(FailureClass::McpNotConnected)));
}
