//! Closed vocabularies as values on the command line: help lists their words, shells complete them, and a refusal names them.
//!
//! Must not know a vocabulary.

use std::error::Error;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Returns the parser of a value that is one of `values`, each of which `word` spells.
pub(crate) fn one_of<T>(values: &[T], word: fn(T) -> &'static str) -> impl TypedValueParser<Value = T> + use<T>
where
    T: Copy + FromStr<Err: Error + Send + Sync + 'static> + Send + Sync + 'static,
{
    PossibleValuesParser::new(values.iter().map(|value| word(*value))).try_map(|given| given.parse::<T>())
}
