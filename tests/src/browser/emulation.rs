//! The circumstances of a page: its colours, and its time zone. Must not know pages.

use serde_json::json;

use super::Browser;

impl Browser {
    /// Makes the page believe that the person prefers `light` or `dark`.
    ///
    /// # Panics
    /// The browser does not respond.
    pub async fn prefer_color_scheme(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }, { "name": "prefers-reduced-motion", "value": "reduce" }]);
        self.call_driver("goog/cdp/execute", Some(&json!({ "cmd": "Emulation.setEmulatedMedia", "params": { "features": features } }))).await;
    }

    /// Puts the page into a time zone, such as `Asia/Kolkata`.
    ///
    /// # Panics
    /// The browser does not respond.
    pub async fn set_timezone(&self, zone: &str) {
        let parameters = json!({ "cmd": "Emulation.setTimezoneOverride", "params": { "timezoneId": zone } });
        self.call_driver("goog/cdp/execute", Some(&parameters)).await;
    }
}
