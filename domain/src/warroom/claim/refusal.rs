//! Refusals of claims.

use crate::refusal::category::refusals;
use crate::time::Timestamp;

refusals! {
    /// Why a path cannot be claimed.
    ClaimRefusal {
        #[error("the path is empty")]
        Blank => Unprocessable "claim-path-empty",
        #[error("the path has {bytes} bytes, and at most {most} are allowed")]
        TooLong { bytes: usize, most: usize } => Unprocessable "claim-path-long",
        #[error("the path has {names} names, and at most {most} are allowed")]
        TooDeep { names: usize, most: usize } => Unprocessable "claim-path-deep",
        #[error("{path} contains a control character")]
        NotText { path: String } => Unprocessable "claim-path-text",
        #[error("{path} is outside of the repository")]
        Outside { path: String } => Unprocessable "claim-outside",
        #[error("this claims the whole repository")]
        WholeRepository => Unprocessable "claim-whole-repository",
        #[error("{path} is inside the .git folder")]
        GitFolder { path: String } => Unprocessable "claim-git-folder",
        #[error("{path} is claimed by {holder} (since {}), and {} in line", since.clock(), place(*.ahead))]
        Taken { path: String, holder: String, since: Timestamp, ahead: usize } => Conflict "claim-taken",
        #[error("{path} is claimed by {holder}, and neither of you can continue: {waiting} waits for {wanted}, which you hold")]
        Deadlock { path: String, holder: String, waiting: String, wanted: String } => Conflict "claim-deadlock",
        #[error("{agent} already holds {claims} claims")]
        TooMany { agent: String, claims: usize } => Conflict "claim-limit",
        #[error("{agent} already waits for {waits} paths")]
        TooManyWaits { agent: String, waits: usize } => Conflict "claim-wait-limit",
        #[error("{agent} holds no claim on {path}")]
        NotHeld { agent: String, path: String } => NotFound "claim-not-held",
        #[error("{path} is claimed by {holder}, and only a lead or a person can take it away")]
        HeldByOther { path: String, holder: String } => Forbidden "claim-of-another",
        #[error("taking {path} from {holder} needs a reason")]
        ReasonNeeded { path: String, holder: String } => Unprocessable "claim-reason-needed",
    }
}

impl ClaimRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Blank | Self::TooLong { .. } | Self::TooDeep { .. } | Self::NotText { .. } => {
                "Name a file relative to the root of the repository, such as src/lib.rs.".to_owned()
            }
            Self::Outside { .. } => "Name a file of this repository, relative to its root or with the path of your checkout.".to_owned(),
            Self::WholeRepository => "Claim the files or the folder that you edit, such as src/parser/.".to_owned(),
            Self::Taken { .. } => {
                "Work on other files. A message says when it is yours; if nothing else is left, commit your work and end your turn \
                                   until then."
                    .to_owned()
            }
            Self::Deadlock { wanted, .. } => format!("Undo or commit your change of {wanted}, and pass it on with release_file."),
            Self::TooMany { .. } => "Release files that you no longer edit with release_file, or claim their folder instead.".to_owned(),
            Self::TooManyWaits { .. } => "Work on the files that you hold. A message says when one of the others is yours.".to_owned(),
            Self::NotHeld { .. } => "get_claims lists the claims with their exact paths.".to_owned(),
            Self::HeldByOther { .. } => "Claim it with claim_file to wait for it, or ask a lead.".to_owned(),
            Self::ReasonNeeded { .. } => "Give the reason, which the holder reads.".to_owned(),
            Self::GitFolder { .. } => "Claim the files that you edit instead. Only git changes its own folder.".to_owned(),
        }
    }
}

fn place(ahead: usize) -> String {
    match ahead {
        0 => "you are the first".to_owned(),
        1 => "you are behind one other agent".to_owned(),
        _ => format!("you are behind {ahead} other agents"),
    }
}
