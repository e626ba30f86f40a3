//! Tests of prompts.
