//! Refusals of claims.

use crate::refusal::category::refusals;

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
        #[error("{path} is in the folder of git")]
        GitFolder { path: String } => Unprocessable "claim-git-folder",
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
            Self::GitFolder { .. } => "Claim the files of the work instead. Git keeps its own folder.".to_owned(),
        }
    }
}
