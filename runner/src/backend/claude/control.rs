//! Claude Code's control protocol over stdin: requests that are not messages to the model. Pure.

use serde_json::{Value, json};

/// The order to end the current turn, for the agent's stdin, without its newline. `id` returns with the program's confirmation.
pub fn encode_interrupt(id: &str) -> String {
    json!({ "type": "control_request", "request_id": id, "request": { "subtype": "interrupt" } }).to_string()
}

/// The answer to a permission request, for the agent's stdin, without its newline. With `denial`, which the model reads, it is a refusal.
pub fn encode_permission(id: &str, denial: Option<&str>) -> String {
    let response: Value = match denial {
        None => json!({ "behavior": "allow" }),
        Some(message) => json!({ "behavior": "deny", "message": message }),
    };
    json!({ "type": "control_response", "response": { "subtype": "success", "request_id": id, "response": response } }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupt_is_a_control_request_under_its_id() {
        insta::assert_snapshot!(encode_interrupt("one"), @r#"{"request":{"subtype":"interrupt"},"request_id":"one","type":"control_request"}"#);
    }

    #[test]
    fn permission_is_answered_under_the_id_of_its_request() {
        insta::assert_snapshot!(encode_permission("one", None), @r#"{"response":{"request_id":"one","response":{"behavior":"allow"},"subtype":"success"},"type":"control_response"}"#);
        insta::assert_snapshot!(encode_permission("one", Some("No.")), @r#"{"response":{"request_id":"one","response":{"behavior":"deny","message":"No."},"subtype":"success"},"type":"control_response"}"#);
    }
}
