//! The board's entry point in the browser. Must not hold anything that a test would want to reach: that is in the library.

fn main() {
    ui::mount();
}
