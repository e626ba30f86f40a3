//! Ports for agents that serve what they build: from the configured range, not given to a live run, and free on this machine.

use std::collections::BTreeSet;

use domain::runs::run::Run;

/// A free port, or none when the range is used up; the agent then has to choose its own. That no two live runs get the same one is
/// guaranteed by the store, which refuses the second.
pub(crate) fn choose(range: (u16, u16), live: &[Run]) -> Option<u16> {
    let taken: BTreeSet<u16> = live.iter().filter_map(|run| run.port).collect();
    (range.0..=range.1).find(|port| !taken.contains(port) && portpicker::is_free_tcp(*port))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use domain::id::{RunId, TaskId};
    use domain::runs::agent_kind::AgentKind;
    use domain::time::Timestamp;

    use super::*;

    fn run_with(port: u16) -> Run {
        Run {
            id: RunId::new(1),
            task_id: TaskId::new(1),
            phase: AgentKind::Coder,
            attempt: 1,
            session_id: None,
            worktree_path: None,
            sha: None,
            port: Some(port),
            started_at: Timestamp::from_milliseconds(0),
            completed_at: None,
            stop_requested_at: None,
            exit_code: None,
            end_class: None,
            failure: None,
            error: None,
            cost_micro_usd: 0,
            input_tokens: 0,
            output_tokens: 0,
            context_tokens: None,
            context_limit: None,
            turns: 0,
        }
    }

    #[test]
    fn a_port_that_a_run_has_or_a_program_listens_on_is_passed_over() {
        // Whatever port the system gives is in use from here on, so a range of that one alone is used up.
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let used = listener.local_addr().unwrap().port();
        assert_eq!(choose((used, used), &[]), None);
        let free = portpicker::pick_unused_port().unwrap();
        assert_eq!(choose((free, free), &[]), Some(free));
        assert_eq!(choose((free, free), &[run_with(free)]), None);
    }
}
