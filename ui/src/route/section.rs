//! The sections of a project, and their addresses.

use domain::id::ProjectId;

use super::{ContextPlace, Route};
use crate::client::{ActivityFilter, MessageFilter};

/// A section of a project with its own page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Section {
    Board,
    Team,
    Messages,
    Goals,
    Contracts,
    Handshakes,
    Activity,
    Charts,
    Replay,
    Context,
    WarRoom,
}

impl Section {
    /// In the order of the tabs and of the keys from 1.
    pub(crate) const ALL: [Self; 11] = [
        Self::Board,
        Self::Team,
        Self::Messages,
        Self::Goals,
        Self::Contracts,
        Self::Handshakes,
        Self::Activity,
        Self::Charts,
        Self::Replay,
        Self::Context,
        Self::WarRoom,
    ];

    /// The path segment in an address, empty for the board.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Board => "",
            Self::Team => "team",
            Self::Messages => "messages",
            Self::Goals => "goals",
            Self::Contracts => "contracts",
            Self::Handshakes => "handshakes",
            Self::Activity => "activity",
            Self::Charts => "charts",
            Self::Replay => "replay",
            Self::Context => "context",
            Self::WarRoom => "war-room",
        }
    }

    pub(crate) fn route(self, project: ProjectId) -> Route {
        match self {
            Self::Board => Route::Board { project, task: None },
            Self::Messages => Route::Messages { project, filter: MessageFilter::default() },
            Self::Activity => Route::Activity { project, filter: ActivityFilter::default() },
            Self::Replay => Route::Replay { project, at: None },
            Self::Context => Route::Context { project, place: ContextPlace::default() },
            section => Route::ProjectSection { project, section },
        }
    }
}
