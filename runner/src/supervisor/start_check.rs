//! Remembers that agents can start, and parks them when they cannot.
//!
//! It must not know what is checked; `preflight` does.

use std::time::Duration;

use domain::runs::parking::ParkReason;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::preflight;
use crate::runs::run::RunContext;

/// How long a passed check stays valid.
const PREFLIGHT_TTL: Duration = Duration::from_secs(600);

/// When the check last passed. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct StartCheck {
    passed_at: watch::Sender<Option<Instant>>,
}

impl StartCheck {
    /// Whether the check passed recently enough to start agents without another one.
    pub(super) fn is_fresh(&self) -> bool {
        self.passed_at.borrow().is_some_and(|at| at.elapsed() < PREFLIGHT_TTL)
    }

    /// Checks whether agents can start, and parks them when not.
    pub(super) async fn run(self, context: RunContext) -> Result<(), String> {
        self.check(&context).await.map_err(|error| error.to_string())
    }

    /// Forgets that the check passed.
    pub(super) fn reset(&self) {
        self.passed_at.send_replace(None);
    }

    /// Lifts an expired parking, unless a new check shows that its cause persists.
    pub(super) async fn resume(self, context: RunContext, reason: ParkReason) -> Result<(), String> {
        self.reset();
        self.check_and_resume(&context, reason).await.map_err(|error| error.to_string())
    }

    async fn check_and_resume(&self, context: &RunContext, reason: ParkReason) -> db::Result<()> {
        self.check(context).await?;
        // The check, or a run that ended meanwhile, may have parked for the same reason again.
        let parkings = context.db.parkings().await?;
        if parkings.iter().any(|parking| parking.reason == reason && parking.has_expired(db::now())) {
            context.db.resume(reason).await?;
        }
        Ok(())
    }

    async fn check(&self, context: &RunContext) -> db::Result<()> {
        let sandbox = context.choose_sandbox().await?;
        match preflight::preflight(&context.config(), &sandbox).await {
            Ok(()) => {
                self.passed_at.send_replace(Some(Instant::now()));
                Ok(())
            }
            Err(failure) => {
                let until = db::now().after(preflight::CHECK_INTERVAL);
                context.db.park_after_check(failure.reason, failure.detail(), until).await
            }
        }
    }
}
