//! The use of the experts of zones: questions, answers, and how much askers read instead of the files.

use domain::runs::usage::{money, tokens};
use domain::warroom::oracle::OracleUse;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::warroom::number::{counted, grouped};
use crate::components::warroom::table::FactTable;
use crate::components::warroom::zone::expert_label;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::{ProjectData, items};
use crate::store::Store;

#[component]
pub(super) fn UsageTable() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let revision = store.revision_of_any(&[ListKind::Questions, ListKind::Zones]);
    let zones = LiveList::new(revision, |_| false, move || items(client.oracle_use(data.project()))).watch();
    let asked = Memo::new(move |_| zones.value.get().unwrap_or_default().into_iter().filter(|zone| zone.questions > 0).collect::<Vec<_>>());
    let row = |zone: OracleUse| {
        let facts = facts(&zone);
        let expert = zone.oracle.as_deref().map_or_else(|| "nobody".to_owned(), expert_label);
        view! {
            <tr>
                <th scope="row">{zone.zone}</th>
                <td>{expert}</td>
                <td>{facts}</td>
            </tr>
        }
    };
    view! {
        <Show when=move || !asked.with(Vec::is_empty)>
            <div class="room-facts">
                <FactTable caption="Use of the experts" columns=["Zone", "Expert", "Measured use"]>{move || asked.get().into_iter().map(row).collect_view()}</FactTable>
            </div>
        </Show>
    }
    .into_any()
}

/// The measured use, such as `3 questions, 2 answered, 1 from notes · askers read 1,200 bytes, instead of 90.0k tokens at most · cost $0.02, 5.0k tokens`.
fn facts(zone: &OracleUse) -> String {
    let noted = if zone.from_notes == 0 { String::new() } else { format!(", {} from notes", grouped(zone.from_notes.into())) };
    let questions = format!("{}, {} answered{noted}", counted(zone.questions.into(), "question"), grouped(zone.answers.into()));
    let cost = match (zone.tokens, money(zone.cost_micro_usd)) {
        (0, _) => String::new(),
        (count, Some(money)) => format!(" · cost {money}, {} tokens", tokens(count)),
        (count, None) => format!(" · cost {} tokens", tokens(count)),
    };
    if zone.answers == 0 {
        return questions + &cost;
    }
    let read = format!("askers read {}", counted(zone.answer_bytes, "byte"));
    let instead = match i64::try_from(zone.context_tokens) {
        // The expert reports no context.
        Ok(0) | Err(_) => String::new(),
        Ok(count) => format!(", instead of {} tokens at most", tokens(count)),
    };
    format!("{questions} · {read}{instead}{cost}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_says_what_was_read_instead_of_what() {
        let zone = OracleUse {
            zone: "audio".to_owned(),
            oracle: None,
            questions: 3,
            answers: 2,
            answer_bytes: 1_200,
            context_tokens: 90_000,
            from_notes: 0,
            task_id: None,
            tokens: 0,
            cost_micro_usd: 0,
        };
        assert_eq!(facts(&zone), "3 questions, 2 answered · askers read 1,200 bytes, instead of 90.0k tokens at most");
        assert_eq!(facts(&OracleUse { context_tokens: 0, ..zone.clone() }), "3 questions, 2 answered · askers read 1,200 bytes");
        let managed = OracleUse { from_notes: 1, tokens: 5_000, cost_micro_usd: 20_000, context_tokens: 0, ..zone.clone() };
        assert_eq!(facts(&managed), "3 questions, 2 answered, 1 from notes · askers read 1,200 bytes · cost $0.02, 5.0k tokens");
        assert_eq!(facts(&OracleUse { answers: 0, questions: 1, ..zone }), "1 question, 0 answered");
    }
}
