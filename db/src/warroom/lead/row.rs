//! Reads whether something is in the zone of a zone lead, and refuses what is not. Must not change anything.

pub(crate) mod party;

use domain::board::card::Card;
use domain::board::planned_files::PlannedFiles;
use domain::warroom::claim::ClaimPath;
use domain::warroom::lead::LeadRefusal;
use domain::warroom::zone::lookup::first_outside;
use sqlx::SqliteConnection;

use crate::caller::Caller;
use crate::error::Result;
use crate::team::participant::row::{self as participant, Participant};
use crate::warroom::zone::row as zones;

/// Resolves the caller in a task. The lead of a zone is not a lead in tasks whose planned files are not all in it.
pub(crate) async fn load_for_task(connection: &mut SqliteConnection, caller: &Caller, card: &Card) -> Result<Participant> {
    let mut participant = participant::load(connection, caller, &card.project_id).await?;
    if participant.lead_zone().is_none() {
        return Ok(participant);
    }
    let planned = zones::planned(connection, std::slice::from_ref(&card.id)).await?;
    let files = planned.into_iter().next().map(|(_, files)| files).unwrap_or_default();
    if let Some(outside) = outside(connection, &participant, &files).await? {
        participant.outside = Some(outside.map_or_else(|| format!("a planned file of {}", card.id), |path| format!("{path} of {}", card.id)));
        participant.is_lead = false;
    }
    Ok(participant)
}

/// Refuses the lead of a zone that plans a task without files, or with files outside its zone.
pub(crate) async fn require_planned(connection: &mut SqliteConnection, participant: &Participant, files: &PlannedFiles, action: &str) -> Result<()> {
    match outside(connection, participant, files).await? {
        None => Ok(()),
        Some(path) => Err(outside_zone(participant, action, path.map_or_else(|| "a planned file".to_owned(), |path| path.to_string())).into()),
    }
}

/// Refuses the lead of a zone that changes what is outside it.
pub(crate) async fn require_paths(connection: &mut SqliteConnection, participant: &Participant, paths: &[ClaimPath], action: &str) -> Result<()> {
    let Some(zone) = participant.lead_zone() else { return Ok(()) };
    let zones = zones::of_project(connection, &participant.project).await?;
    first_outside(&zones, zone, paths).map_or(Ok(()), |path| Err(outside_zone(participant, action, path.to_string()).into()))
}

/// Refuses the lead of a zone that changes another one.
pub(crate) fn require_zone(participant: &Participant, zone: Option<&str>, action: &str) -> std::result::Result<(), LeadRefusal> {
    match (participant.lead_zone(), zone) {
        (Some(own), Some(zone)) if own != zone => Err(outside_zone(participant, action, format!("the zone {zone}"))),
        (Some(_), None) => participant.require_whole_project(action),
        _ => Ok(()),
    }
}

/// Returns what keeps planned files from being in the zone of its lead: a path, or that there is none.
async fn outside(connection: &mut SqliteConnection, participant: &Participant, files: &PlannedFiles) -> Result<Option<Option<ClaimPath>>> {
    let Some(zone) = participant.lead_zone() else { return Ok(None) };
    if files.is_empty() {
        return Ok(Some(None));
    }
    let zones = zones::of_project(connection, &participant.project).await?;
    Ok(first_outside(&zones, zone, files.paths()).cloned().map(Some))
}

fn outside_zone(participant: &Participant, action: &str, subject: String) -> LeadRefusal {
    let zone = participant.lead_zone().unwrap_or_default().to_owned();
    LeadRefusal::OutsideZone { agent: participant.name.clone(), zone, action: action.to_owned(), subject }
}
