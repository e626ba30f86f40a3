//! The page *War room* of a project. Each section is a component of its own.

use leptos::prelude::*;

use crate::components::warroom::battle_plan::PlanSection;
use crate::components::warroom::claim::ClaimsSection;
use crate::components::warroom::code_map::CodeMapSection;
use crate::components::warroom::formation::FormationSection;
use crate::components::warroom::handover::HandoverSection;
use crate::components::warroom::heat_map::HeatMapSection;
use crate::components::warroom::knowledge::KnowledgeSection;
use crate::components::warroom::oracle::QuestionsSection;
use crate::components::warroom::party::PartySection;
use crate::components::warroom::raid_log::LogSection;
use crate::components::warroom::trigger::OrdersSection;
use crate::components::warroom::zone::ZonesSection;

#[component]
pub(crate) fn WarRoomPage() -> impl IntoView {
    view! {
        <div class="warroom">
            <div class="stack">
                <PartySection />
                <OrdersSection />
                <PlanSection />
                <FormationSection />
            </div>
            <div class="stack">
                <ClaimsSection />
                <HeatMapSection />
                <ZonesSection />
                <CodeMapSection />
            </div>
            <div class="stack">
                <LogSection />
                <KnowledgeSection />
                <QuestionsSection />
                <HandoverSection />
            </div>
        </div>
    }
    .into_any()
}
