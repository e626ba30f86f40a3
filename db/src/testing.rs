//! A clock that a test sets. It must not exist in the product.

use std::cell::Cell;

use domain::time::Timestamp;

thread_local! {
    static TIME: Cell<Option<Timestamp>> = const { Cell::new(None) };
}

/// Makes [`crate::now`] return `time` on this thread until it is set again. A store that is used from one thread follows it.
pub fn set_time(time: Timestamp) {
    TIME.set(Some(time));
}

/// The time that was set on this thread.
pub(crate) fn time() -> Option<Timestamp> {
    TIME.get()
}
