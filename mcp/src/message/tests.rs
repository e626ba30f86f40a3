//! Valid and invalid messages, and that the SDK reads every message that passes.

use proptest::prelude::*;
use rmcp::model::ClientJsonRpcMessage;

use super::*;

fn code(message: &Value) -> i32 {
    check(message).unwrap_err().error.code.0
}

#[test]
fn malformed_json_is_a_parse_error() {
    for bytes in [&b"{"[..], b"", b"{\"jsonrpc\":", b"\xff\xfe"] {
        let answer = parse(bytes).unwrap_err().to_json();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Value::Null), "{bytes:?}");
    }
}

#[test]
fn message_of_the_wrong_shape_is_an_invalid_request() {
    for message in [
        json!(1),
        json!("tools/list"),
        json!({}),
        json!({"id": 1, "method": "ping"}),
        json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": 7}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "x"}}),
    ] {
        assert_eq!(code(&message), -32600, "{message}");
    }
    let named = check(&json!({"jsonrpc": "1.0", "id": "a", "method": "ping"})).unwrap_err().to_json();
    assert_eq!(named["id"], "a");
}

#[test]
fn parameters_must_fit_their_method() {
    for (method, parameters) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 7})),
        ("tools/call", json!({"name": "who", "arguments": []})),
        ("tools/list", json!({"cursor": 5})),
        ("resources/read", json!({"uri": null})),
        ("initialize", json!({"protocolVersion": "2025-06-18"})),
        ("logging/setLevel", json!({"level": "loud"})),
        ("ping", json!([1])),
        ("ping", json!({"_meta": 1})),
    ] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        let invalid = check(&message).unwrap_err();
        assert_eq!(invalid.error.code.0, -32602, "{message}");
        assert!(invalid.error.message.starts_with(&format!("invalid params of {method}: ")), "{}", invalid.error.message);
    }
}

#[test]
fn valid_messages_pass() {
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": null}),
        json!({"jsonrpc": "2.0", "id": -1, "method": "tools/call", "params": {"name": "who", "arguments": {}}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "no/such/method", "params": {"any": [1]}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "x"}}),
    ] {
        check(&message).unwrap_or_else(|invalid| panic!("{message}: {invalid:?}"));
    }
}

#[test]
fn batches_belong_to_one_revision() {
    let ping = || json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    check_batch(&[ping()], Some("2025-03-26")).unwrap();
    for (messages, revision) in
        [(vec![ping()], Some("2025-06-18")), (vec![ping()], None), (Vec::new(), Some("2025-03-26")), (vec![ping(); 101], Some("2025-03-26"))]
    {
        assert_eq!(check_batch(&messages, revision).unwrap_err().error.code.0, -32600, "{revision:?}");
    }
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    assert_eq!(check_in_batch(&initialize).unwrap_err().error.code.0, -32600);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z/]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let key = prop_oneof![Just("name".to_owned()), Just("uri".to_owned()), Just("_meta".to_owned()), Just("code".to_owned()), "[a-z]{0,4}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..3).prop_map(|map| json!(map))
        ]
    })
}

proptest! {
    #[test]
    fn the_sdk_reads_every_message_that_passes(
        id in prop::option::of(value()),
        method in prop::option::of(prop::sample::select(vec!["tools/call", "tools/list", "resources/read", "ping", "initialize", "x", "notifications/cancelled"])),
        parameters in prop::option::of(value()),
        result in prop::option::weighted(0.2, value()),
        error in prop::option::weighted(0.2, value()),
    ) {
        let mut message = json!({"jsonrpc": "2.0"});
        for (key, field) in [("id", id), ("method", method.map(Value::from)), ("params", parameters), ("result", result), ("error", error)] {
            if let Some(field) = field {
                message[key] = field;
            }
        }
        if check(&message).is_ok() {
            prop_assert!(serde_json::from_value::<ClientJsonRpcMessage>(message.clone()).is_ok(), "{message}");
        }
    }
}
