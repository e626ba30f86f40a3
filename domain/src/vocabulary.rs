//! The macro for closed vocabularies: enums with one spelling in JSON, SQL, URLs and prompts.

/// Declares an enum with one word for each variant, which `as_str`, `parse`, `ALL`, serde and OpenAPI share.
///
/// The words are matched as `tt`, because the OpenAPI derive does not see a literal that a macro passes on as `literal`.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:tt,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::vocabulary::UnknownValue;

            fn from_str(given: &str) -> Result<Self, Self::Err> {
                match given {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::vocabulary::UnknownValue {
                        given: given.chars().take(60).collect(),
                        vocabulary: $what,
                        known: vec![$($word,)+],
                    }),
                }
            }
        }
    };
}

pub(crate) use vocabulary;

/// A value outside a closed vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not a valid {vocabulary}; expected one of {}", known.join(", "))]
pub struct UnknownValue {
    pub given: String,
    pub vocabulary: &'static str,
    pub known: Vec<&'static str>,
}
