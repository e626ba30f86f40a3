//! Says on the terminal and in the log when agent starts are parked, and when they resume; and, after a command that lets an agent start,
//! why none does. Must not know why agents are parked.

use db::Db;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::parking::{ParkReason, Parking};
use domain::wire::ServerInfo;

use crate::client::Client;
use crate::output;

/// Hints at what keeps agents of a project from starting, if something does. The command before has succeeded, whether the board still
/// answers or not.
pub(crate) async fn hint(client: &Client, project: &ProjectId) {
    let server = client.get::<ServerInfo>("/api/server").await;
    let project = client.get::<Project>(&format!("/api/projects/{project}")).await;
    if let (Ok(server), Ok(project)) = (server, project) {
        obstacles(&server).into_iter().chain(obstacle_in(&project)).for_each(output::hint);
    }
}

/// As [`hint`], after a task was added. One that is held waits for its person anyway, unless its project is archived.
pub(crate) async fn hint_after_adding(client: &Client, project: &ProjectId, may_start: bool) {
    if may_start {
        return hint(client, project).await;
    }
    if let Ok(project) = client.get::<Project>(&format!("/api/projects/{project}")).await
        && project.archived_at.is_some()
    {
        obstacle_in(&project).into_iter().for_each(output::hint);
    }
}

/// Says what keeps agents of all projects from starting, and what to do about it.
pub(crate) fn obstacles(server: &ServerInfo) -> Vec<String> {
    let mut obstacles = Vec::new();
    if !server.runner.is_ticking {
        obstacles.push("No agents start: the runner of the board does not respond. Restart the board.".to_owned());
    }
    for Parking { reason, detail, .. } in &server.runner.parked {
        obstacles.push(format!("No agents start: {}. {}", reason.sentence(), reason.remedy()));
        obstacles.extend((!detail.is_empty()).then(|| format!("  {}", domain::text::excerpt(detail, 600))));
    }
    obstacles.extend(
        server.paused_at.map(|at| format!("No agents start: all projects are paused since {}. `vibe-relay resume` ends the pause.", at.clock())),
    );
    obstacles
}

/// Says what keeps agents of one project from starting.
fn obstacle_in(project: &Project) -> Option<String> {
    let Project { id, paused_at, archived_at, .. } = project;
    let paused =
        paused_at.map(|at| format!("No agents start in {id}: it is paused since {}. `vibe-relay project resume {id}` ends the pause.", at.clock()));
    let archived = archived_at.map(|_| format!("No agents start in {id}: it is archived. `vibe-relay project restore {id}` restores it."));
    archived.or(paused)
}

/// Prints one line for each change, from the state at the start on, until the store closes.
pub(crate) async fn announce(db: Db) {
    let mut commits = db.subscribe();
    let mut known = Vec::new();
    loop {
        commits.borrow_and_update();
        match db.parkings().await {
            Ok(current) => {
                for line in changes(&known, &current) {
                    output::line(&line);
                    tracing::info!("{line}");
                }
                known = current.iter().map(|parking| parking.reason).collect();
            }
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "the parkings could not be read"),
        }
        if commits.changed().await.is_err() {
            return;
        }
    }
}

/// The lines for what differs. A parking that is only prolonged is not repeated.
fn changes(known: &[ParkReason], current: &[Parking]) -> Vec<String> {
    let parked = current.iter().filter(|parking| !known.contains(&parking.reason)).map(|parking| {
        let Parking { reason, until, detail, .. } = parking;
        format!("parked: {}, next check at {}: {}", reason.sentence(), until.clock(), domain::text::excerpt(detail, 200))
    });
    let is_over = |reason: &&ParkReason| !current.iter().any(|parking| parking.reason == **reason);
    let resumed = known.iter().filter(is_over).map(|reason| format!("resumed: agents start again ({} before)", reason.sentence()));
    parked.chain(resumed).collect()
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn obstacle_has_its_reason_its_details_and_its_remedy() {
        let mut server: ServerInfo = serde_json::from_value(serde_json::json!({
            "version": "1", "epoch": "e", "person": {"id": 1, "name": "ann", "role": "owner", "created_at": "2026-01-02T14:00:00Z"},
            "repo_path": null, "config_notice": null, "demo": null,
            "runner": {"ticking_since": "2026-01-02T14:00:00Z", "last_tick_at": null, "is_ticking": true, "max_agents": 3, "live_runs": [], "parked": []}
        }))
        .unwrap();
        assert_eq!(obstacles(&server), [""; 0]);
        server.runner.is_ticking = false;
        let (since, detail) = (Timestamp::from_milliseconds(0), "A jail does not work here.".to_owned());
        server.runner.parked = vec![Parking { reason: ParkReason::Sandbox, since, until: since, detail, failed_probes: 0 }];
        server.paused_at = Some("2026-01-02T14:05:00Z".parse().unwrap());
        insta::assert_snapshot!(obstacles(&server).join("\n"), @r#"
        No agents start: the runner of the board does not respond. Restart the board.
        No agents start: the sandbox of agents is not chosen yet. Choose one that works here, in the dialog *New project* of the board or with "sandbox" in the configuration. Work then continues automatically.
          A jail does not work here.
        No agents start: all projects are paused since 14:05 UTC. `vibe-relay resume` ends the pause.
        "#);
    }

    #[test]
    fn each_change_has_one_line() {
        let parking = |reason, until: &str| Parking {
            reason,
            since: Timestamp::from_milliseconds(0),
            until: until.parse().unwrap(),
            detail: "Line 1\nLine 2".to_owned(),
            failed_probes: 0,
        };
        let first = [parking(ParkReason::RateLimited, "2026-01-02T14:05:00Z")];
        let lines = changes(&[], &first);
        assert_eq!(lines, ["parked: rate limited, next check at 14:05 UTC: Line 1…"]);
        let prolonged = [parking(ParkReason::RateLimited, "2026-01-02T15:05:00Z")];
        assert_eq!(changes(&[ParkReason::RateLimited], &prolonged), [""; 0]);
        let other = [parking(ParkReason::DiskFull, "2026-01-02T15:05:00Z")];
        let lines = changes(&[ParkReason::RateLimited], &other);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "resumed: agents start again (rate limited before)");
    }
}
