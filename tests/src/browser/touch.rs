//! A finger on the page. It must not know any page of the product.

use std::time::Duration;

use fantoccini::Locator;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, PointerAction, TouchActions};
use fantoccini::elements::Element;

use super::{Browser, POINTER_DURATION};

impl Browser {
    /// Drags one element over another with a finger that rests on it for `rest` first, and lifts the finger there.
    ///
    /// # Panics
    /// One of the elements does not exist.
    pub async fn drag_by_finger(&self, from: &str, rest: Duration, to: &str) {
        let over = |element: Element| PointerAction::MoveToElement { element, duration: Some(POINTER_DURATION), x: 0.0, y: 0.0 };
        let from = self.wait(from, async || self.still(from).await).await;
        let to = self.wait(to, async || self.client.find(Locator::Css(to)).await).await;
        let finger = TouchActions::new("finger".to_owned())
            .then(over(from))
            .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
            .then(PointerAction::Pause { duration: rest })
            .then(PointerAction::MoveBy { duration: Some(POINTER_DURATION), x: 0.0, y: -10.0 })
            .then(over(to))
            .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.perform(finger).await;
    }
}
