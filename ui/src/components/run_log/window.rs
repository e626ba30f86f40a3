//! Which blocks of a log are drawn: those near the visible part. The others keep their height.
//!
//! Must not know what a block contains.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlElement, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit};

/// Blocks within this distance of the visible part are drawn before they are scrolled to.
const MARGIN: &str = "1200px 0px";
const BLOCK: &str = "data-block";

/// Follows which blocks are near the visible part of a scrolling element.
#[derive(Clone)]
pub(super) struct Window {
    near: Rc<RefCell<HashMap<usize, RwSignal<bool>>>>,
    observer: Rc<RefCell<Option<IntersectionObserver>>>,
    /// Called by the observer for as long as the window lives.
    _callback: Rc<Closure<dyn FnMut(Vec<IntersectionObserverEntry>)>>,
}

impl Window {
    pub(super) fn new() -> Self {
        let near = Rc::new(RefCell::new(HashMap::<usize, RwSignal<bool>>::new()));
        let known = near.clone();
        let callback = Closure::new(move |entries: Vec<IntersectionObserverEntry>| {
            for entry in entries {
                let block = entry.target();
                let signal = index(&block).and_then(|index| known.borrow().get(&index).copied());
                let Some(signal) = signal else { continue };
                if !entry.is_intersecting() {
                    // The emptied block keeps the height of its content, so that nothing moves.
                    let height = entry.bounding_client_rect().height();
                    if let Some(block) = block.dyn_ref::<HtmlElement>().filter(|_| height > 0.0) {
                        let _set = block.style().set_property("min-height", &format!("{height}px"));
                    }
                } else if let Some(block) = block.dyn_ref::<HtmlElement>() {
                    let _removed = block.style().remove_property("min-height");
                }
                let _log_closed = signal.try_set(entry.is_intersecting());
            }
        });
        Self { near, observer: Rc::default(), _callback: Rc::new(callback) }
    }

    /// Follows a block of the log `root`. The signal tells whether to draw it.
    pub(super) fn observe(&self, root: &Element, block: &Element) {
        if self.observer.borrow().is_none() {
            let options = IntersectionObserverInit::new();
            options.set_root(Some(root));
            options.set_root_margin(MARGIN);
            let created = IntersectionObserver::new_with_options(self._callback.as_ref().as_ref().unchecked_ref(), &options);
            *self.observer.borrow_mut() = created.ok();
        }
        if let Some(observer) = &*self.observer.borrow() {
            observer.observe(block);
        }
    }

    /// Whether to draw a block.
    pub(super) fn is_near(&self, index: usize) -> RwSignal<bool> {
        *self.near.borrow_mut().entry(index).or_insert_with(|| RwSignal::new(false))
    }

    /// Ends the observation.
    pub(super) fn close(&self) {
        if let Some(observer) = self.observer.borrow_mut().take() {
            observer.disconnect();
        }
    }
}

fn index(block: &Element) -> Option<usize> {
    block.get_attribute(BLOCK)?.parse().ok()
}
