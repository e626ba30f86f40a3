//! The page *War room* of a project. Each section is a component of its own.

use leptos::prelude::*;

use crate::components::warroom::party::PartySection;

#[component]
pub(crate) fn WarRoomPage() -> impl IntoView {
    view! {
        <div class="warroom">
            <PartySection />
        </div>
    }
    .into_any()
}
