//! Draws a part of the board whose code is loaded when it is first shown, or soon after the page was opened, and runs code that is loaded
//! after the first cards are drawn.
//!
//! Must not know the parts: `parts` lists them.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::reactive::spawn_local_scoped_with_cancellation;
use wasm_split_helpers::SplitLoaderError;
use web_sys::Event;

/// The view of a part, or the failure to load its code.
pub(crate) type Part = Result<AnyView, SplitLoaderError>;

type Load = Rc<dyn Fn() -> Pin<Box<dyn Future<Output = Part>>>>;
type Start = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), SplitLoaderError>>>>>;

/// The delay before code that did not load is requested again.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// Whether the first page has drawn its cards. The sidebar and the tools around them are loaded afterwards.
#[derive(Clone, Copy)]
pub(crate) struct FirstPage {
    is_drawn: StoredValue<bool>,
    waiting: StoredValue<Vec<Waker>>,
}

impl FirstPage {
    pub(crate) fn provide() -> Self {
        let page = Self { is_drawn: StoredValue::new(false), waiting: StoredValue::new(Vec::new()) };
        provide_context(page);
        page
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Lets what waits go on, once for all. `boot.js` then loads the styles of the other pages.
    pub(crate) fn set_drawn(self) {
        if self.is_drawn.get_value() {
            return;
        }
        self.is_drawn.set_value(true);
        if let Ok(event) = Event::new("first-page-drawn") {
            let _dispatched = window().dispatch_event(&event);
        }
        self.waiting.try_update_value(std::mem::take).into_iter().flatten().for_each(Waker::wake);
    }

    /// Like [`Self::set_drawn`], once the browser has painted what is drawn now.
    pub(crate) fn set_drawn_after_paint(self) {
        request_animation_frame(move || request_animation_frame(move || set_timeout(move || self.set_drawn(), Duration::ZERO)));
    }

    /// Waits until the page is drawn, or cannot be.
    pub(crate) async fn wait(self) {
        poll_fn(|context| {
            if self.is_drawn.get_value() {
                return Poll::Ready(());
            }
            self.waiting.update_value(|waiting| waiting.push(context.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

/// Draws `part` as soon as its code is there.
pub(crate) fn lazy<F: Future<Output = Part> + 'static>(part: impl Fn() -> F + 'static) -> AnyView {
    draw(Rc::new(move || Box::pin(part())))
}

/// Runs a part that draws nothing after the first page is drawn, for the current owner.
pub(crate) fn start<F: Future<Output = Result<(), SplitLoaderError>> + 'static>(part: impl Fn() -> F + 'static) {
    let (part, first_page): (Start, _) = (Box::new(move || Box::pin(part())), FirstPage::from_context());
    spawn_local_scoped_with_cancellation(async move {
        first_page.wait().await;
        while part().await.is_err() {
            sleep(RETRY_DELAY).await;
        }
    });
}

/// Draws a part around the first page, such as the sidebar, after the page itself. If it cannot be loaded, only the notices of the page say
/// so.
pub(crate) fn soon<F: Future<Output = Part> + 'static>(part: impl Fn() -> F + 'static) -> AnyView {
    let drawn = RwSignal::new_local(None::<AnyView>);
    start(move || {
        let part = part();
        async move {
            let _page_closed = drawn.try_set(Some(part.await?));
            Ok(())
        }
    });
    (move || {
        drawn.track();
        drawn.try_write_untracked().and_then(|mut drawn| drawn.take())
    })
    .into_any()
}

fn draw(load: Load) -> AnyView {
    let loaded = RwSignal::new_local(None::<Part>);
    let start = move || {
        let part = load();
        // A page that is closed before its code arrives is not drawn.
        spawn_local_scoped_with_cancellation(async move { loaded.set(Some(part.await)) });
    };
    start();
    let owner = Owner::current().unwrap_or_default();
    let retry = StoredValue::new_local(move || owner.with(&start));
    (move || {
        loaded.track();
        let part = loaded.try_write_untracked().and_then(|mut loaded| loaded.take());
        match part {
            Some(Ok(view)) => view,
            Some(Err(_)) => view! { <NotLoaded retry=Callback::new(move |()| retry.with_value(|retry| retry())) /> }.into_any(),
            None => ().into_any(),
        }
    })
    .into_any()
}

/// Shown when the code could not be loaded: the server is gone, or it was replaced by another version.
#[component]
fn NotLoaded(retry: Callback<()>) -> impl IntoView {
    view! {
        <div class="empty" role="alert">
            <h2>"This part of the board could not be loaded"</h2>
            <p>"The server does not answer, or it was updated after this page was opened."</p>
            <p class="row">
                <button type="button" class="button" on:click=move |_| retry.run(())>"Try again"</button>
                <button type="button" class="button quiet" on:click=move |_| drop(window().location().reload())>"Reload the page"</button>
            </p>
        </div>
    }
}
