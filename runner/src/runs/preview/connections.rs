//! Whether anyone is connected to a port of this machine, as the kernel lists it. It must not connect itself.

use std::fs;

/// The tables of connections, for either version of the protocol.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// The state of a connection that both ends use.
const ESTABLISHED: &str = "01";

/// Whether a connection to `port` is open; `None` where the system does not tell.
pub(super) fn is_connected(port: u16) -> Option<bool> {
    let tables: Vec<String> = TABLES.iter().filter_map(|table| fs::read_to_string(table).ok()).collect();
    (!tables.is_empty()).then(|| tables.iter().any(|table| has_connection(table, port)))
}

fn has_connection(table: &str, port: u16) -> bool {
    let local_port = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (local, _, state) = (columns.next(), columns.next(), columns.next());
        local.is_some_and(|local| local.ends_with(&local_port)) && state == Some(ESTABLISHED)
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn connection_is_found_while_it_is_open() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(is_connected(port), Some(false), "someone only listens");
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert_eq!(is_connected(port), Some(true));
        assert!(client.peer_addr().is_ok());
    }

    #[test]
    fn only_established_connections_to_the_port_count() {
        let table = "  sl  local_address rem_address   st\n   0: 0100007F:0FA1 00000000:0000 0A\n   1: 0100007F:0FA1 0100007F:C000 06\n";
        assert!(!has_connection(table, 4001), "listening, and closed");
        let table = format!("{table}   2: 0100007F:C000 0100007F:0FA1 01\n");
        assert!(!has_connection(&table, 4001), "the end of the client");
        assert!(has_connection(&format!("{table}   3: 0100007F:0FA1 0100007F:C000 01\n"), 4001));
    }
}
