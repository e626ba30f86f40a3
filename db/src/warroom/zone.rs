//! Zones of projects: leads set and remove them. All reads take the zones of one project, of which there are at most 100.

pub(crate) mod row;
pub(crate) mod write;

use std::collections::BTreeMap;

use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::{EVERYONE, HUMAN, MANAGED};
use domain::team::person::participant as participant_of;
use domain::warroom::zone::lookup::zones_of;
use domain::warroom::zone::name::validate_name;
use domain::warroom::zone::proposal::ZoneProposals;
use domain::warroom::zone::proposal::evidence::ProposalEvidence;
use domain::warroom::zone::refusal::ZoneRefusal;
use domain::warroom::zone::{MAX_ZONES, NewZone, Zone, ZoneEvent};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::consequences::oracle_questions::unanswerable;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::row::roster::Roster;
use crate::team::participant::row::{self as participant, Participant};
use crate::warroom::lead::row as lead;

impl Db {
    /// Creates a zone, or replaces the one of that name. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the caller is not a lead with this reach, the name, a path or a participant is not acceptable, or the project has too many zones.
    pub async fn set_zone(&self, caller: &Caller, project: &ProjectId, new: NewZone) -> Result<Zone> {
        let name = new.name.clone();
        let mut set = self.set_zones(caller, project, vec![new]).await?;
        Ok(set.pop().ok_or_else(|| Refusal::not_found("zone", &name))?)
    }

    /// Creates or replaces zones, all or none of them. Repeating it changes nothing.
    ///
    /// # Errors
    /// As [`Self::set_zone`].
    pub async fn set_zones(&self, caller: &Caller, project: &ProjectId, new: Vec<NewZone>) -> Result<Vec<Zone>> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                participant.require_lead("setting a zone")?;
                if new.len() > MAX_ZONES {
                    return Err(ZoneRefusal::TooMany { zones: new.len() }.into());
                }
                let mut zones = row::of_project(&mut tx.connection, &project).await?;
                let roster = Roster::load(tx, &project).await?;
                let mut set = Vec::with_capacity(new.len());
                let mut changed = false;
                for new in new {
                    let zone = acceptable(tx, &roster, &participant, &project, new, &zones).await?;
                    let place = zones.iter().position(|before| before.name == zone.name);
                    if let Some(same) = place.and_then(|place| zones.get(place)).filter(|before| before.says_the_same(&zone)) {
                        set.push(same.clone());
                        continue;
                    }
                    write::store(&mut tx.connection, &zone).await?;
                    if zone.oracle.as_deref() != Some(MANAGED) {
                        dismiss(tx, &project, &zone.name, "has another expert now").await?;
                    }
                    tx.record_without_card(caller, &project, None, ZoneEvent::Set { zone: zone.name.clone() });
                    changed = true;
                    zones.retain(|before| before.name != zone.name);
                    zones.push(zone.clone());
                    set.push(zone);
                }
                if !changed {
                    tx.skip_event(NoEventReason::NothingChanged);
                }
                Ok(set)
            })
        })
        .await
    }

    /// Removes a zone. Its files are in another zone then, or in none.
    ///
    /// # Errors
    /// When the caller is not a lead, or there is no such zone.
    pub async fn remove_zone(&self, caller: &Caller, project: &ProjectId, name: &str) -> Result<()> {
        let (project, name) = (project.clone(), name.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                participant.require_lead("removing a zone")?;
                lead::require_zone(&participant, Some(&name), "removing a zone")?;
                dismiss(tx, &project, &name, "was removed").await?;
                let removed = sqlx::query(write::REMOVE).bind(project.as_str()).bind(&name).execute(&mut tx.connection).await?;
                if removed.rows_affected() == 0 {
                    return Err(Refusal::not_found("zone", &name).into());
                }
                tx.record_without_card(caller, &project, None, ZoneEvent::Removed { zone: name });
                Ok(())
            })
        })
        .await
    }

    /// Proposes zones from what a repository says, besides those that a project has. Changes nothing.
    ///
    /// # Errors
    /// When the project does not exist, or the repository has no such file or map.
    pub async fn propose_zones(&self, project: &ProjectId, evidence: &ProposalEvidence) -> Result<ZoneProposals> {
        let zones = self.zones(project).await?;
        let agents = self.agents(project).await?.into_iter().map(|agent| agent.name);
        let persons = self.persons().await?.into_iter().map(|person| participant_of(person.role, &person.name));
        let participants: Vec<String> = agents.chain(persons).chain([HUMAN.to_owned()]).collect();
        Ok(ZoneProposals::of(evidence, &zones, &participants)?)
    }

    /// Lists the zones of a project by name.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn zones(&self, project: &ProjectId) -> Result<Vec<Zone>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        row::of_project(&mut connection, project).await
    }
}

impl Db {
    /// Returns the zones of tasks of a project, which follow from their planned files, by name. Tasks in no zone are missing.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn zones_of_tasks(&self, project: &ProjectId, tasks: &[TaskId]) -> Result<BTreeMap<TaskId, Vec<String>>> {
        let zones = self.zones(project).await?;
        if zones.is_empty() {
            return Ok(BTreeMap::new());
        }
        let planned = row::planned(&mut *self.readers.acquire().await?, tasks).await?;
        let named = planned.into_iter().map(|(task, files)| (task, zones_of(&zones, files.paths()).into_iter().map(str::to_owned).collect()));
        Ok(named.filter(|(_, zones): &(_, Vec<String>)| !zones.is_empty()).collect())
    }
}

/// Returns the zone as it is stored, if the others of the project allow it.
async fn acceptable(tx: &mut Tx, roster: &Roster, author: &Participant, project: &ProjectId, new: NewZone, zones: &[Zone]) -> Result<Zone> {
    validate_name(&new.name)?;
    let before = zones.iter().find(|zone| zone.name == new.name);
    if before.is_some() {
        lead::require_zone(author, Some(&new.name), "setting a zone")?;
    }
    if before.is_none() && zones.len() >= MAX_ZONES {
        return Err(ZoneRefusal::TooMany { zones: zones.len() }.into());
    }
    let (owner, oracle) = before.map(|zone| (zone.owner.as_deref(), zone.oracle.as_deref())).unwrap_or_default();
    let paths = new.paths(zones)?;
    // A zone lead may divide its zone, and not extend it.
    lead::require_paths(&mut tx.connection, author, &paths, "setting a zone").await?;
    Ok(Zone {
        paths,
        owner: resolved(tx, roster, &author.name, "owner", new.owner.as_deref(), owner).await?,
        oracle: resolved(tx, roster, &author.name, "oracle", new.oracle.as_deref(), oracle).await?,
        name: new.name,
        project_id: project.clone(),
        author: author.name.clone(),
        set_at: tx.now,
    })
}

/// Ends the questions to the managed oracle that a zone had, if any are open.
async fn dismiss(tx: &mut Tx, project: &ProjectId, zone: &str, why: &str) -> Result<()> {
    match row::oracle_task(&mut tx.connection, project, zone).await? {
        Some(task) => unanswerable(tx, &task, &format!("the zone {zone} {why}")).await,
        None => Ok(()),
    }
}

/// Resolves a participant that `speaker` named. One that the zone has already stays, even if its agent left.
async fn resolved(
    tx: &mut Tx,
    roster: &Roster,
    speaker: &str,
    field: &'static str,
    given: Option<&str>,
    kept: Option<&str>,
) -> Result<Option<String>> {
    let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else { return Ok(None) };
    if kept == Some(given) || (field == "oracle" && given == MANAGED) {
        return Ok(Some(given.to_owned()));
    }
    let name = roster.mailbox(tx, speaker, given).await?;
    if name == EVERYONE {
        return Err(Refusal::invalid(field, "a zone has one at most", "Name one agent or person; who lists them.").into());
    }
    Ok(Some(name))
}
