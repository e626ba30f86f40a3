//! Reads which agents work in the zone of a zone lead, and refuses what it tells others to do. Must not change anything.

use std::collections::BTreeSet;

use domain::board::planned_files::PlannedFiles;
use domain::team::agent::EVERYONE;
use domain::warroom::claim::ClaimPath;
use domain::warroom::lead::LeadRefusal;
use domain::warroom::zone::Zone;
use domain::warroom::zone::lookup::zones_of;
use sqlx::{Row, SqliteConnection};

use crate::error::Result;
use crate::team::participant::row::Participant;
use crate::warroom::zone::row as zones;

/// The planned files of the open tasks of an agent `$2` of a project `$1`: of those that are assigned to it, and of that of its run.
pub(crate) const PLANNED: &str = "SELECT t.files FROM tasks t
    WHERE t.project_id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review') AND t.assigned_to = $2 AND t.files IS NOT NULL
  UNION ALL SELECT t.files FROM agents a JOIN agent_runs r ON r.id = a.run_id AND r.completed_at IS NULL JOIN tasks t ON t.id = r.task_id
    WHERE a.project_id = $1 AND a.name = $2 AND t.files IS NOT NULL";
/// The paths that an agent `$2` of a project `$1` holds.
pub(crate) const HELD: &str = "SELECT path FROM claims WHERE project_id = $1 AND agent_name = $2";

/// Refuses the lead of a zone that tells an agent what to do which does not work in the zone: it neither owns nor knows it, and neither holds a
/// file of it nor has a task there. Costs the zones of the project, and what the agent holds and works on.
pub(crate) async fn require(connection: &mut SqliteConnection, participant: &Participant, recipient: &str, action: &str) -> Result<()> {
    let Some(zone) = participant.lead_zone() else { return Ok(()) };
    if recipient == EVERYONE {
        return Ok(participant.require_whole_project(action)?);
    }
    let zones = zones::of_project(connection, &participant.project).await?;
    let works_in = zones_of_agent(connection, participant, &zones, recipient).await?;
    if works_in.contains(zone) {
        return Ok(());
    }
    let other = works_in.first().map(|other| (*other).to_owned());
    let (agent, zone, action) = (participant.name.clone(), zone.to_owned(), action.to_owned());
    Err(LeadRefusal::OutsideParty { agent, zone, action, recipient: recipient.to_owned(), other }.into())
}

/// Returns the zones that an agent works in.
async fn zones_of_agent<'z>(
    connection: &mut SqliteConnection,
    participant: &Participant,
    zones: &'z [Zone],
    agent: &str,
) -> Result<BTreeSet<&'z str>> {
    let answers_for = |zone: &&Zone| zone.owner.iter().chain(&zone.oracle).any(|name| name == agent);
    let mut found: BTreeSet<&str> = zones.iter().filter(answers_for).map(|zone| zone.name.as_str()).collect();
    let mut paths: Vec<ClaimPath> = Vec::new();
    for row in &sqlx::query(PLANNED).bind(participant.project.as_str()).bind(agent).fetch_all(&mut *connection).await? {
        let planned: PlannedFiles = serde_json::from_str(row.try_get("files")?)?;
        paths.extend(planned.paths().iter().cloned());
    }
    for row in &sqlx::query(HELD).bind(participant.project.as_str()).bind(agent).fetch_all(connection).await? {
        paths.extend(row.try_get::<&str, _>("path")?.parse().ok());
    }
    found.extend(zones_of(zones, &paths));
    Ok(found)
}
