//! A menu beside the button that opened it, in the browser's top layer. Escape or a click elsewhere closes it; arrow keys move in it.
//!
//! Must not know what an item does.

use leptos::html::{self, Div};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::components::dialog::{focused, restore_focus};
use crate::components::icon::Icon;
use crate::pixels::pixels;

/// Space between the menu and the edge of the window, in pixels.
const MARGIN: f64 = 8.0;

/// Closes the menu around an item.
#[derive(Clone, Copy)]
struct CloseMenu(Callback<()>);

/// A button and its menu, whose items are made when it opens.
#[component]
pub(crate) fn MenuButton(
    /// The name of the menu, and of the button if that shows only a drawing.
    label: &'static str,
    /// The text of the button.
    #[prop(optional)]
    text: &'static str,
    drawing: &'static str,
    #[prop(default = "button quiet icon")] class: &'static str,
    #[prop(optional, into)] disabled: Signal<bool>,
    #[prop(into)] items: ViewFn,
) -> impl IntoView {
    let button = NodeRef::<html::Button>::new();
    let anchor = RwSignal::new_local(None::<HtmlElement>);
    let close = Callback::new(move |()| anchor.set(None));
    let name = text.is_empty().then_some(label);
    view! {
        <button
            type="button"
            class=class
            aria-haspopup="menu"
            aria-expanded=move || anchor.with(Option::is_some).to_string()
            aria-label=name
            title=name
            disabled=disabled
            node_ref=button
            on:click=move |_| anchor.set(button.get_untracked().map(HtmlElement::from))
        >
            {text}
            <Icon drawing=drawing />
        </button>
        {move || {
            let items = items.clone();
            anchor.get().map(|anchor| view! { <Menu label=label anchor=anchor close=close>{untrack(|| items.run())}</Menu> })
        }}
    }
    .into_any()
}

/// An item, which closes the menu and acts.
#[component]
pub(crate) fn MenuItem(
    #[prop(into)] label: String,
    /// The details that the label leaves open.
    #[prop(optional)]
    note: &'static str,
    /// The shortcut of the same action.
    #[prop(optional)]
    key: &'static str,
    /// Whether this choice is the current one, if the items are choices.
    #[prop(optional_no_strip)]
    checked: Option<bool>,
    #[prop(into)] act: Callback<()>,
) -> impl IntoView {
    let CloseMenu(close) = expect_context();
    let choose = move |_| {
        close.run(());
        act.run(());
    };
    let role = if checked.is_some() { "menuitemradio" } else { "menuitem" };
    view! {
        <button type="button" role=role aria-checked=checked.map(|checked| checked.to_string()) tabindex="-1" on:click=choose>
            {label}
            {(!note.is_empty()).then(|| view! { <small>{note}</small> })}
            {(!key.is_empty()).then(|| view! { <small class="keys">{key}</small> })}
        </button>
    }
    .into_any()
}

/// Open for as long as it is part of the page; `close` must remove it. `anchor` is the button that opened it.
#[component]
pub(crate) fn Menu(#[prop(into)] label: String, anchor: HtmlElement, close: Callback<()>, children: Children) -> impl IntoView {
    provide_context(CloseMenu(close));
    let menu = NodeRef::<Div>::new();
    let title = label.clone();
    let anchor = StoredValue::new_local(anchor);
    let before = StoredValue::new_local(focused());
    Effect::new(move || {
        if let Some(menu) = menu.get() {
            let _shown = menu.show_popover();
            place(&menu, &anchor.get_value());
            step(&menu, 1);
        }
    });
    on_cleanup(move || {
        let before = before.try_get_value().flatten();
        request_animation_frame(move || restore_focus(before.as_ref()));
    });
    let on_key = move |event: KeyboardEvent| {
        let Some(menu) = menu.get_untracked() else { return };
        match event.key().as_str() {
            "ArrowDown" | "j" => step(&menu, 1),
            "ArrowUp" | "k" => step(&menu, -1),
            "Escape" | "Tab" => close.run(()),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    view! {
        <div
            class="menu"
            popover="auto"
            role="menu"
            node_ref=menu
            aria-label=label
            on:keydown=on_key
            on:toggle=move |_| {
                let closed = menu.get_untracked().is_some_and(|menu| !menu.matches(":popover-open").unwrap_or(true));
                if closed {
                    close.run(());
                }
            }
        >
            <div class="menu-title" aria-hidden="true">{title}</div>
            {children()}
        </div>
    }
}

/// Places the menu below the anchor, aligned with its right edge, or above it if the window ends.
fn place(menu: &HtmlElement, anchor: &HtmlElement) {
    let (at, size) = (anchor.get_bounding_client_rect(), menu.get_bounding_client_rect());
    let extent = |value: Result<leptos::wasm_bindgen::JsValue, _>| value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    let (width, height) = (extent(window().inner_width()), extent(window().inner_height()));
    let left = (at.right() - size.width()).min(width - size.width() - MARGIN).max(MARGIN);
    let below = at.bottom() + 4.0;
    let top = if below + size.height() > height - MARGIN { (at.top() - size.height() - 4.0).max(MARGIN) } else { below };
    let style = menu.style();
    for (property, value) in [("left", left), ("top", top)] {
        let _set = style.set_property(property, &pixels(value));
    }
}

/// Moves the focus to the next or previous item and wraps around.
fn step(menu: &HtmlElement, by: i64) {
    let Ok(items) = menu.query_selector_all("[role^=menuitem]:not(:disabled)") else { return };
    let count = i64::from(items.length());
    if count == 0 {
        return;
    }
    let active = document().active_element();
    let item = |index: i64| u32::try_from(index).ok().and_then(|index| items.item(index)).and_then(|node| node.dyn_into::<HtmlElement>().ok());
    let current = (0..count).find(|index| item(*index).as_deref() == active.as_ref());
    let next = current.map_or(0, |current| (current + by).rem_euclid(count));
    if let Some(item) = item(next) {
        let _focused = item.focus();
    }
}
