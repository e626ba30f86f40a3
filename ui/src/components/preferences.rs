//! The preferences of this browser: theme, density, words of the war room, notifications and sounds.

use leptos::prelude::*;

use crate::components::theme::{Choice, Density, chosen_words, set_theme, set_words, theme};
use crate::notifications::{Channel, Kind, may_notify, request_permission};

#[component]
pub(crate) fn Preferences() -> impl IntoView {
    let (chosen_theme, density, words_now) = (RwSignal::new(theme()), Density::from_context(), RwSignal::new(chosen_words()));
    let choose_theme = Callback::new(move |theme: &'static str| {
        set_theme(theme);
        chosen_theme.set(theme.to_owned());
    });
    let chosen_density = Signal::derive(move || if density.is_comfortable() { "comfortable" } else { "" }.to_owned());
    let choose_density = Callback::new(move |_| density.switch());
    let choose_words = Callback::new(move |words: &'static str| {
        set_words(words);
        words_now.set(words.to_owned());
    });
    let themes = [("Same as the system", ""), ("Light", "light"), ("Dark", "dark")];
    let densities = [("Compact", ""), ("Comfortable", "comfortable")];
    let offered_words = [("Plain: agents, context left, plan", ""), ("Raid: party, HP, battle plan", "raid")];
    view! {
        <section class="section" aria-labelledby="preferences">
            <h2 id="preferences">"This browser"</h2>
            <Choices legend="Theme" name="theme" offered=themes.to_vec() chosen=chosen_theme choose=choose_theme />
            <Choices legend="Cards" name="density" offered=densities.to_vec() chosen=chosen_density choose=choose_density />
            <Choices legend="Wording of the war room" name="words" offered=offered_words.to_vec() chosen=words_now choose=choose_words />
            <Notifications />
        </section>
    }
}

#[component]
fn Choices(
    legend: &'static str,
    name: &'static str,
    offered: Vec<(&'static str, &'static str)>,
    #[prop(into)] chosen: Signal<Choice>,
    choose: Callback<&'static str>,
) -> impl IntoView {
    let options = offered.into_iter().map(|(label, value)| {
        view! {
            <label class="option-box">
                <input type="radio" name=name prop:checked=move || chosen.with(|chosen| chosen == value) on:change=move |_| choose.run(value) />
                {label}
            </label>
        }
    });
    view! {
        <fieldset class="field">
            <legend class="label">{legend}</legend>
            <div class="options-list">{options.collect_view()}</div>
        </fieldset>
    }
}

/// The kinds of decisions that the browser announces, all off at first.
#[component]
fn Notifications() -> impl IntoView {
    let rows = Kind::ALL.map(|kind| {
        let checkbox = |channel: Channel, label: String| {
            let on = RwSignal::new(channel.is_on(kind));
            let change = move |event: web_sys::Event| {
                let is_on = event_target_checked(&event);
                channel.choose(kind, is_on);
                on.set(is_on);
                if is_on && channel == Channel::Desktop && !may_notify() {
                    request_permission();
                }
            };
            view! { <td><input type="checkbox" aria-label=label prop:checked=on on:change=change /></td> }
        };
        view! {
            <tr>
                <th scope="row">{kind.label()}</th>
                {checkbox(Channel::Desktop, format!("Notification: {}", kind.label()))}
                {checkbox(Channel::Sound, format!("Sound: {}", kind.label()))}
            </tr>
        }
    });
    view! {
        <table class="notifications">
            <caption class="label">"Announce"</caption>
            <thead>
                <tr>
                    <th scope="col">"Decision"</th>
                    <th scope="col">"Notification"</th>
                    <th scope="col">"Sound"</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        <p class="hint">"Notifications appear while the board is in the background. The browser asks for your permission first."</p>
    }
}
