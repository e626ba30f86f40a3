//! A list that comes in pages, newest first, of which the reader asks for more. All shown pages are requested together, so that older items
//! are as live as the newest.
//!
//! Must not know what the list contains.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use domain::wire::List;
use leptos::prelude::*;

use crate::client::Failure;
use crate::live_list::LiveList;

type Page<T> = Pin<Box<dyn Future<Output = Result<List<T>, Failure>>>>;

pub(crate) struct PagedList<T: 'static> {
    pub(crate) list: LiveList<List<T>>,
    pages: StoredValue<u32>,
}

impl<T> Clone for PagedList<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PagedList<T> {}

impl<T: Clone + Send + Sync + 'static> PagedList<T> {
    /// Keeps the first page up to date for as long as the current owner lives, and later ones once they are shown. `request` gets the
    /// cursor of a page, or none for the first.
    pub(crate) fn watch<F>(revision: RwSignal<u32>, request: impl Fn(Option<i64>) -> F + 'static) -> Self
    where
        F: Future<Output = Result<List<T>, Failure>> + 'static,
    {
        let pages = StoredValue::new(1_u32);
        let request: Rc<dyn Fn(Option<i64>) -> Page<T>> = Rc::new(move |before| Box::pin(request(before)));
        let all = move || {
            let request = Rc::clone(&request);
            async move { first_pages(pages.try_get_value().unwrap_or(1), &*request).await }
        };
        Self { list: LiveList::new(revision, |_| false, all).watch(), pages }
    }

    pub(crate) fn show_older(self) {
        self.pages.update_value(|pages| *pages += 1);
        self.list.refetch();
    }

    /// Begins again with the first page, because the request asks for something else now.
    pub(crate) fn restart(self) {
        self.pages.set_value(1);
        self.list.refetch();
    }

    pub(crate) fn items(self) -> Vec<T> {
        self.list.value.with(|list| list.as_ref().map(|list| list.items.clone()).unwrap_or_default())
    }

    pub(crate) fn is_loaded(self) -> bool {
        self.list.value.with(Option::is_some)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.list.value.with(|list| list.as_ref().is_some_and(|list| list.items.is_empty()))
    }

    pub(crate) fn has_older(self) -> bool {
        self.list.value.with(|list| list.as_ref().is_some_and(|list| list.next.is_some()))
    }
}

async fn first_pages<T, F>(pages: u32, request: impl Fn(Option<i64>) -> F) -> Result<List<T>, Failure>
where
    F: Future<Output = Result<List<T>, Failure>>,
{
    let mut all = request(None).await?;
    for _ in 1..pages {
        let Some(before) = all.next else { break };
        let older = request(Some(before)).await?;
        all.items.extend(older.items);
        all.next = older.next;
    }
    Ok(all)
}

/// The button that shows the next page, while there is one.
#[component]
pub(crate) fn ShowOlder(label: &'static str, #[prop(into)] has_older: Signal<bool>, #[prop(into)] show_older: Callback<()>) -> impl IntoView {
    (move || {
        has_older.get().then(|| view! { <button type="button" class="button quiet small" on:click=move |_| show_older.run(())>{label}</button> })
    })
    .into_any()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// Five items on pages of two.
    fn page(before: Option<i64>) -> impl Future<Output = Result<List<i64>, Failure>> {
        let items: Vec<i64> = (1..before.unwrap_or(6)).rev().take(2).collect();
        let next = items.last().copied().filter(|last| *last > 1);
        std::future::ready(Ok(List { items, next }))
    }

    #[test]
    fn pages_follow_each_other_until_the_last() {
        let shown = |pages| first_pages(pages, page).now_or_never().and_then(Result::ok).map(|list| (list.items, list.next));
        assert_eq!(shown(1), Some((vec![5, 4], Some(4))));
        assert_eq!(shown(2), Some((vec![5, 4, 3, 2], Some(2))));
        assert_eq!(shown(9), Some((vec![5, 4, 3, 2, 1], None)));
    }
}
