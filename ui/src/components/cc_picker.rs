//! A picker for the cc recipients of a message.

use leptos::prelude::*;

use crate::components::icon::{CLOSE, Icon};

#[component]
pub(crate) fn CcPicker(
    /// Names that can be added.
    names: Memo<Vec<String>>,
    picked: RwSignal<Vec<String>>,
) -> impl IntoView {
    let free = Memo::new(move |_| {
        let mut names = names.get();
        picked.with(|picked| names.retain(|name| !picked.contains(name)));
        names
    });
    let options = move || free.get().into_iter().map(|name| view! { <option value=name.clone()>{name.clone()}</option> }).collect_view();
    view! {
        <For each=move || picked.get() key=String::clone let:name>
            {
                let removed = name.clone();
                view! {
                    <button
                        type="button"
                        class="option-box"
                        aria-label=format!("Remove cc {name}")
                        on:click=move |_| picked.update(|picked| picked.retain(|known| *known != removed))
                    >
                        {format!("cc: {name}")}
                        <Icon drawing=CLOSE />
                    </button>
                }
            }
        </For>
        <Show when=move || !free.with(Vec::is_empty)>
            <select class="input narrow" aria-label="Add cc" on:change:target=move |event| {
                let name = event.target().value();
                event.target().set_value("");
                if !name.is_empty() {
                    picked.update(|picked| picked.push(name));
                }
            }>
                <option value="">"Add cc…"</option>
                {options}
            </select>
        </Show>
    }
}
