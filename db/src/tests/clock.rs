//! The clock that a test sets.

use domain::time::Timestamp;

use crate::now;
use crate::testing::set_time;

#[test]
fn clock_stands_still_at_the_time_that_is_set() {
    let time = Timestamp::from_milliseconds(7);
    set_time(time);
    assert_eq!((now(), now()), (time, time));
    std::thread::spawn(move || assert_ne!(now(), time, "other tests have their own")).join().unwrap();
}
