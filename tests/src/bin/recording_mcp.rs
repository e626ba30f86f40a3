//! An MCP server over stdio that accepts every call and appends it as a JSON line to the file given as its argument. It replaces the board
//! in tests of the agent. It must not know the board's rules.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Value, json};

const TOOLS: [&str; 10] = [
    "add_comment",
    "ask_human",
    "check_inbox",
    "complete_task",
    "create_subtasks",
    "get_board",
    "get_my_tasks",
    "get_task",
    "send",
    "update_task_status",
];

struct Recorder {
    file: PathBuf,
}

impl Recorder {
    fn record(&self, line: &Value) -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

impl ServerHandler for Recorder {
    fn get_info(&self) -> InitializeResult {
        InitializeResult::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(json!({"type": "object"}).as_object().cloned().unwrap_or_default());
        let tools = TOOLS.map(|name| Tool::new(name, "Records its arguments.", schema.clone()));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let answer = match arguments.get("tasks").and_then(Value::as_array) {
            Some(tasks) => {
                let created = (0..tasks.len()).map(|index| json!({"task_id": format!("TASK-{:03}", index + 2)}));
                json!({"tasks": created.collect::<Vec<_>>()}).to_string()
            }
            None => "ok".to_owned(),
        };
        let meta = serde_json::to_value(&context.meta).unwrap_or_default();
        let call_id = meta["claudecode/toolUseId"].as_str().is_some_and(|id| id.starts_with("toolu_"));
        self.record(&json!({"tool": request.name, "arguments": arguments, "call_id": call_id}))
            .map_err(|error| ErrorData::internal_error(format!("the call could not be recorded: {error}"), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: recording_mcp FILE")?.into();
    let service = Recorder { file }.serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(())
}
