//! The page *War room* of a project. Each section is a component of its own.

use leptos::prelude::*;

use crate::components::warroom::battle_plan::PlanSection;
use crate::components::warroom::claim::ClaimsSection;
use crate::components::warroom::handover::HandoverSection;
use crate::components::warroom::party::PartySection;
use crate::components::warroom::raid_log::LogSection;
use crate::components::warroom::trigger::OrdersSection;

#[component]
pub(crate) fn WarRoomPage() -> impl IntoView {
    view! {
        <div class="warroom">
            <div class="stack">
                <PartySection />
                <OrdersSection />
                <PlanSection />
            </div>
            <div class="stack">
                <ClaimsSection />
                <HandoverSection />
            </div>
            <div class="stack"><LogSection /></div>
        </div>
    }
    .into_any()
}
