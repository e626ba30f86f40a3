//! The entry point in the browser. Must not contain anything that a test needs, because tests use the library.

fn main() {
    ui::mount();
}
