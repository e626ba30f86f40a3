//! The proxy on a real socket.

use domain::id::RunId;
use tempfile::TempDir;
use tokio::io::AsyncBufReadExt;
use tokio::io::BufReader;
use tokio::net::TcpListener;

use super::*;
use crate::run_dir::RunSpec;

/// A proxy that permits the port of a service that answers each connection with its first line.
async fn proxy() -> (TempDir, RunDir, u16) {
    let service = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = service.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = service.accept().await {
            let mut lines = BufReader::new(stream);
            let mut line = String::new();
            lines.read_line(&mut line).await.unwrap();
            lines.write_all(format!("echo {line}").as_bytes()).await.unwrap();
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let spec = RunSpec {
        run_id: Some(RunId::new(1)),
        marker: "m".to_owned(),
        argv: Vec::new(),
        cwd: "/".into(),
        env: std::collections::BTreeMap::default(),
        first_line: None,
        output_limit: 1,
        jail: None,
        setup: None,
        check: None,
    };
    let run_dir = RunDir::create(&folder.path().join("run"), &spec).unwrap();
    let forwards = [("proxy", ForwardTarget::AllowedHosts), ("board", ForwardTarget::Address(format!("127.0.0.1:{port}")))];
    let forwards = forwards.map(|(socket, target)| Forward { port: 1, socket: socket.to_owned(), target });
    serve(folder.path(), &forwards, &[format!("127.0.0.1:{port}")], &run_dir).unwrap();
    (folder, run_dir, port)
}

async fn exchange(folder: &TempDir, socket: &str, text: &str) -> String {
    let mut stream = UnixStream::connect(folder.path().join(socket)).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        answer.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if answer.contains("Established\r\n\r\n") && !answer.contains("echo") {
            stream.write_all(b"hello\n").await.unwrap();
        } else if count == 0 || answer.contains("echo") {
            return answer;
        }
    }
}

#[tokio::test]
async fn allowed_host_gets_a_tunnel_and_others_are_refused_and_logged() {
    let (folder, run_dir, port) = proxy().await;
    let tunnel = exchange(&folder, "proxy", &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
    assert_eq!(tunnel, "HTTP/1.1 200 Connection Established\r\n\r\necho hello\n");
    for request in
        ["CONNECT evil.example:443 HTTP/1.1\r\n\r\n", "CONNECT evil.example:443 HTTP/1.1\r\n\r\n", "GET http://plain.example/x HTTP/1.1\r\n\r\n"]
    {
        let answer = exchange(&folder, "proxy", request).await;
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("the jail refused a connection to "), "{answer}");
    }
    assert_eq!(refused_hosts(&run_dir), ["evil.example", "plain.example:80"]);
    assert_eq!(std::fs::read_to_string(run_dir.file(ALLOWED_LOG)).unwrap(), format!("127.0.0.1:{port}\n"));
}

#[tokio::test]
async fn invalid_and_endless_requests_are_answered() {
    let (folder, run_dir, _) = proxy().await;
    assert!(exchange(&folder, "proxy", "nonsense\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
    let endless = format!("CONNECT a:1 HTTP/1.1\r\n{}", "x".repeat(MAX_HEAD_BYTES));
    assert!(exchange(&folder, "proxy", &endless).await.starts_with("HTTP/1.1 431 "));
    assert_eq!(refused_hosts(&run_dir), [""; 0]);
}

#[tokio::test]
async fn address_socket_leads_to_its_address_only() {
    let (folder, _, _) = proxy().await;
    assert_eq!(exchange(&folder, "board", "POST /mcp\n").await, "echo POST /mcp\n");
}
