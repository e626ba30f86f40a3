//! Tests the answers to lines that are not valid messages.

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::*;

struct Client {
    lines: Lines<ReadHalf<DuplexStream>>,
    input: WriteHalf<DuplexStream>,
    output: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    fn new() -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let (output, input) = tokio::io::split(ours);
        Self { lines: Lines::new(read, write), input, output: BufReader::new(output).lines() }
    }

    async fn write(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// The SDK's side: takes the next message, which must be valid, and answers it if it is a request.
    async fn serve_one(&mut self) {
        let message = self.lines.receive().await.unwrap();
        if let ClientJsonRpcMessage::Request(request) = message {
            let response = ServerJsonRpcMessage::response(rmcp::model::ServerResult::empty(()), request.id);
            self.lines.send(response).await.unwrap();
        }
    }

    async fn initialize(&mut self, revision: &str) {
        let parameters = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        self.write(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters}).to_string()).await;
        self.serve_one().await;
        assert_eq!(self.answer().await["id"], 0);
    }
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

#[tokio::test]
async fn invalid_lines_are_answered_and_the_next_is_served() {
    let mut client = Client::new();
    for line in ["{\"jsonrpc\":", "", "[1,2", "7", "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{}}"] {
        client.write(line).await;
    }
    client.write(&ping(4).to_string()).await;
    client.serve_one().await;
    for (code, id) in [(-32700, Value::Null), (-32700, Value::Null), (-32600, Value::Null), (-32602, json!(3))] {
        let answer = client.answer().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
    }
    assert_eq!(client.answer().await, json!({"jsonrpc": "2.0", "id": 4, "result": {}}));
}

#[tokio::test]
async fn batch_is_answered_with_one_array() {
    let mut client = Client::new();
    client.initialize("2025-03-26").await;
    client.write(&json!([ping(1), 7, {"jsonrpc": "2.0", "method": "notifications/initialized"}, ping(2)]).to_string()).await;
    for _ in 0..3 {
        client.serve_one().await;
    }
    let answer = client.answer().await;
    let ids: Vec<&Value> = answer.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&Value::Null, &json!(1), &json!(2)]);
    client.write("[7]").await;
    client.write(&ping(3).to_string()).await;
    client.serve_one().await;
    assert_eq!(client.answer().await[0]["error"]["code"], -32600);
    assert_eq!(client.answer().await["id"], 3);
}

#[tokio::test]
async fn cancelled_request_does_not_block_its_batch() {
    let mut client = Client::new();
    client.initialize("2025-03-26").await;
    client.write(&json!([ping(1), ping(2)]).to_string()).await;
    client.serve_one().await;
    client.lines.receive().await.unwrap();
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}).to_string()).await;
    client.serve_one().await;
    assert_eq!(client.answer().await, json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]));
}

#[tokio::test]
async fn later_revision_has_no_batches() {
    let mut client = Client::new();
    client.initialize("2025-06-18").await;
    client.write(&json!([ping(1)]).to_string()).await;
    client.write(&ping(2).to_string()).await;
    client.serve_one().await;
    assert_eq!(client.answer().await["error"]["code"], -32600);
    assert_eq!(client.answer().await["id"], 2);
}
