//! The apps that people try out: starts the command of the profile on the files of a task or of the project branch, under a shim and in the jail
//! of agents, and follows it to its end.
//!
//! The store says which apps run, and the name of the folder of a command follows from that, so a server that restarts finds them. It must not
//! choose what to start; a person did.

mod app;
mod connections;
mod place;

use std::collections::HashSet;

use db::{Db, LivePreview};
use domain::runs::preview::{PreviewState, PreviewSubject};
use tokio::task::JoinSet;

use crate::runs::checkout::CheckoutError;
use crate::runs::run::RunContext;

/// Follows all previews until the store closes. The apps run on then.
pub(crate) async fn run(context: RunContext) {
    let mut commits = context.db.subscribe();
    let (mut jobs, mut followed) = (JoinSet::new(), HashSet::new());
    loop {
        commits.borrow_and_update();
        match context.db.live_previews().await {
            Ok(live) => {
                for live in live {
                    if followed.insert(live.subject.clone()) {
                        let context = context.clone();
                        jobs.spawn(async move {
                            let subject = live.subject.clone();
                            if let Err(error) = follow(&context, live).await {
                                tracing::warn!(subject = subject.name(), %error, "could not follow an app");
                            }
                            subject
                        });
                    }
                }
            }
            Err(db::Error::Closed) => return,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "could not read which apps run"),
        }
        tokio::select! {
            changed = commits.changed() => if changed.is_err() { return },
            // One that was asked for again meanwhile starts in the next pass.
            Some(Ok(ended)) = jobs.join_next() => { followed.remove(&ended); }
        }
    }
}

/// Follows one preview to its end, and starts it if it has not been.
async fn follow(context: &RunContext, live: LivePreview) -> Result<(), CheckoutError> {
    let (db, LivePreview { subject, preview, .. }) = (&context.db, &live);
    let path = db.preview_folder(&place::project_of(db, subject).await?, subject, preview.started_at);
    let app = match app::App::open(&live, path.clone()) {
        Some(running) => running,
        None if preview.state == PreviewState::Stopping => return Ok(db.end_preview(subject, preview.started_at, "it had not started").await?),
        None => match app::App::start(context, &live, path).await {
            Ok(Ok(started)) => started,
            Ok(Err(why)) => return Ok(db.fail_preview(subject, preview.started_at, &why).await?),
            Err(CheckoutError::Store(error)) => return Err(error.into()),
            Err(error) => return Ok(db.fail_preview(subject, preview.started_at, &error.to_string()).await?),
        },
    };
    Ok(app.follow(db, subject).await?)
}

/// Reads the newest state of a preview; `None` once it has ended.
async fn state_of(db: &Db, subject: &PreviewSubject) -> db::Result<Option<LivePreview>> {
    Ok(db.live_previews().await?.into_iter().find(|live| live.subject == *subject))
}

#[cfg(test)]
mod tests;
