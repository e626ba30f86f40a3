//! Requests about the war room: the agents that are present, claims of files, battle plans, handovers, zones, the heat map, the code map,
//! formations, questions to oracles, knowledge, orders and the raid log.

use domain::id::ProjectId;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanPatch, BattlePlanStatus, NewBattlePlan};
use domain::warroom::claim::ClaimRelease;
use domain::warroom::claim::queue::Claims;
use domain::warroom::code_map::CodeMapView;
use domain::warroom::formation::Formation;
use domain::warroom::handover::Handover;
use domain::warroom::heat_map::HeatMap;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgeState, NewClosing, NewKnowledge};
use domain::warroom::oracle::{NewOracleQuestion, OracleQuestion, OracleUse};
use domain::warroom::party::PartyMember;
use domain::warroom::raid_log::{NewRaidLogEntry, Priority, RaidLogEntry};
use domain::warroom::trigger::{NewTrigger, TriggerWithdrawal, Triggers};
use domain::warroom::zone::proposal::{ProposalSource, ZoneProposals, ZoneSelection};
use domain::warroom::zone::{NewZone, Zone, ZoneRemoval};
use domain::wire::List;
use gloo_net::http::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Client, Empty, Failure, project_path};

/// The part of a plan that every page of a project reads, which is loaded first and has to be small.
#[derive(Debug, Deserialize)]
struct Origin {
    derived: bool,
}

impl Client {
    /// Whether someone logged an entry, wrote the plan by hand, wrote something down or set a zone.
    pub(crate) async fn uses_war_room(self, project: ProjectId) -> Result<bool, Failure> {
        let has_items = async |list: &str| -> Result<bool, Failure> {
            let newest: List<IgnoredAny> = self.get(&project_path(&project, list)).await?;
            Ok(!newest.items.is_empty())
        };
        if has_items("/raid-log?limit=1").await? || has_items("/knowledge").await? {
            return Ok(true);
        }
        let plans: List<Origin> = self.get(&project_path(&project, "/battle-plans?status=active")).await?;
        Ok(plans.items.iter().any(|plan| !plan.derived) || has_items("/zones").await?)
    }

    pub(crate) async fn party(self, project: ProjectId) -> Result<List<PartyMember>, Failure> {
        self.get(&project_path(&project, "/party")).await
    }

    pub(crate) async fn claims(self, project: ProjectId) -> Result<Claims, Failure> {
        self.get(&project_path(&project, "/claims")).await
    }

    pub(crate) async fn release_claim(self, project: ProjectId, release: ClaimRelease) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/claims/release"), &release).await
    }

    /// The newest plans, or those before the plan `before`.
    pub(crate) async fn battle_plans(
        self,
        project: ProjectId,
        status: Option<BattlePlanStatus>,
        before: Option<i64>,
    ) -> Result<List<BattlePlan>, Failure> {
        let path = with_query("/battle-plans", [("status", status.map(|status| status.to_string())), ("before", before.map(|id| id.to_string()))]);
        self.get(&project_path(&project, &path)).await
    }

    pub(crate) async fn set_battle_plan(self, project: ProjectId, new: NewBattlePlan) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/battle-plans"), &new).await
    }

    pub(crate) async fn end_battle_plan(self, plan: i64, status: BattlePlanStatus) -> Result<IgnoredAny, Failure> {
        self.send(Method::PATCH, &format!("/api/battle-plans/{plan}"), &BattlePlanPatch { status }).await
    }

    /// The newest entries of this priority and above, or those before the entry `before`.
    pub(crate) async fn raid_log(
        self,
        project: ProjectId,
        priority: Option<Priority>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<List<RaidLogEntry>, Failure> {
        let path = with_query(
            "/raid-log",
            [
                ("limit", Some(limit.to_string())),
                ("priority", priority.map(|priority| priority.to_string())),
                ("before", before.map(|id| id.to_string())),
            ],
        );
        self.get(&project_path(&project, &path)).await
    }

    /// The newest handovers, or those before the handover `before`.
    pub(crate) async fn handovers(self, project: ProjectId, before: Option<i64>) -> Result<List<Handover>, Failure> {
        let path = with_query("/handovers", [("before", before.map(|id| id.to_string()))]);
        self.get(&project_path(&project, &path)).await
    }

    pub(crate) async fn zones(self, project: ProjectId) -> Result<List<Zone>, Failure> {
        self.get(&project_path(&project, "/zones")).await
    }

    pub(crate) async fn set_zone(self, project: ProjectId, zone: NewZone) -> Result<IgnoredAny, Failure> {
        self.send(Method::PUT, &project_path(&project, "/zones"), &zone).await
    }

    pub(crate) async fn remove_zone(self, project: ProjectId, name: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/zones/remove"), &ZoneRemoval { name }).await
    }

    pub(crate) async fn zone_proposals(self, project: ProjectId, from: ProposalSource) -> Result<ZoneProposals, Failure> {
        let path = with_query("/zones/proposals", [("from", Some(from.to_string()))]);
        self.get(&project_path(&project, &path)).await
    }

    pub(crate) async fn apply_zones(self, project: ProjectId, selection: ZoneSelection) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/zones/apply"), &selection).await
    }

    pub(crate) async fn heat_map(self, project: ProjectId) -> Result<HeatMap, Failure> {
        self.get(&project_path(&project, "/heat-map")).await
    }

    pub(crate) async fn formation(self, project: ProjectId) -> Result<Formation, Failure> {
        self.get(&project_path(&project, "/formation")).await
    }

    /// The last code map, or none.
    pub(crate) async fn code_map(self, project: ProjectId) -> Result<Option<CodeMapView>, Failure> {
        self.get(&project_path(&project, "/code-map")).await
    }

    pub(crate) async fn map_code(self, project: ProjectId) -> Result<CodeMapView, Failure> {
        self.send(Method::POST, &project_path(&project, "/code-map"), &Empty {}).await
    }

    /// The newest questions to oracles, or those before the question `before`.
    pub(crate) async fn oracle_questions(self, project: ProjectId, before: Option<i64>) -> Result<List<OracleQuestion>, Failure> {
        self.get(&project_path(&project, &with_query("/oracle-questions", [("before", before.map(|id| id.to_string()))]))).await
    }

    pub(crate) async fn ask_oracle(self, project: ProjectId, new: NewOracleQuestion) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/oracle-questions"), &new).await
    }

    pub(crate) async fn oracle_use(self, project: ProjectId) -> Result<List<OracleUse>, Failure> {
        self.get(&project_path(&project, "/oracle-use")).await
    }

    /// The newest items, or those before the item `before`.
    pub(crate) async fn knowledge(
        self,
        project: ProjectId,
        kind: Option<KnowledgeKind>,
        state: KnowledgeState,
        before: Option<i64>,
    ) -> Result<List<Knowledge>, Failure> {
        let parameters =
            [("kind", kind.map(|kind| kind.to_string())), ("state", Some(state.to_string())), ("before", before.map(|id| id.to_string()))];
        self.get(&project_path(&project, &with_query("/knowledge", parameters))).await
    }

    pub(crate) async fn write_knowledge(self, project: ProjectId, new: NewKnowledge) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/knowledge"), &new).await
    }

    pub(crate) async fn archive_intel(self, item: i64, closing: NewClosing) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &format!("/api/knowledge/{item}/archive"), &closing).await
    }

    pub(crate) async fn resolve_trap(self, item: i64, closing: NewClosing) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &format!("/api/knowledge/{item}/resolve"), &closing).await
    }

    pub(crate) async fn triggers(self, project: ProjectId) -> Result<Triggers, Failure> {
        self.get(&project_path(&project, "/triggers")).await
    }

    pub(crate) async fn give_trigger(self, project: ProjectId, new: NewTrigger) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/triggers"), &new).await
    }

    pub(crate) async fn withdraw_trigger(self, project: ProjectId, withdrawal: TriggerWithdrawal) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/triggers/withdraw"), &withdrawal).await
    }

    pub(crate) async fn log_raid(self, project: ProjectId, new: NewRaidLogEntry) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/raid-log"), &new).await
    }
}

/// The path with the parameters that have a value. Values are words and numbers.
fn with_query<const N: usize>(path: &str, parameters: [(&str, Option<String>); N]) -> String {
    let given = parameters.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect::<Vec<_>>();
    if given.is_empty() { path.to_owned() } else { format!("{path}?{}", given.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::with_query;

    #[test]
    fn query_has_the_given_parameters() {
        assert_eq!(with_query("/raid-log", [("priority", None), ("before", None)]), "/raid-log");
        assert_eq!(
            with_query("/raid-log", [("priority", Some("high".to_owned())), ("before", Some("7".to_owned()))]),
            "/raid-log?priority=high&before=7"
        );
    }
}
