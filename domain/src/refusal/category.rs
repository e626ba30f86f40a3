//! The categories of refusals, and the macro that declares the refusals of a noun. Must not know any noun.

/// The category of a refusal, which each protocol maps to its own status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    NotFound,
    /// The caller is unknown.
    Unauthorized,
    /// This caller is not allowed to do it.
    Forbidden,
    /// The request conflicts with the current state of something.
    Conflict,
    /// A value is invalid, or the state of the board does not allow it.
    Unprocessable,
    /// The caller asked too often.
    TooMany,
}

/// Declares the refusals of a noun, each with its sentence, its category and its code, which never changes after a release.
///
/// The enum also needs a method `hint`, and a line in `refusal.rs`.
macro_rules! refusals {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$meta:meta])* $variant:ident $({ $($field:ident: $type:ty),* })? $(($inner:ty))? => $category:ident $code:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        pub enum $name {
            $($(#[$meta])* $variant $({ $($field: $type),* })? $(($inner))?,)+
        }

        impl $name {
            #[cfg(test)]
            pub(crate) const VARIANTS: &'static [&'static str] = &[$(stringify!($variant)),+];

            pub(crate) const fn category(&self) -> $crate::refusal::category::Category {
                match self {
                    $(Self::$variant { .. } => $crate::refusal::category::Category::$category,)+
                }
            }

            pub(crate) const fn code(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $code,)+
                }
            }
        }
    };
}

pub(crate) use refusals;
