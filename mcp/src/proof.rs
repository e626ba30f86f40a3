//! The proof that a server on a TCP port is the one of this database: it knows the secret in `server.json`, which only this user can read.
//!
//! A program that takes the port of a server that has ended does not know the secret. The proof names the port, so that a program on another port
//! cannot pass on the proof of the real server. It must not know what is sent afterwards.

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Router, response::Response};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::server::failure;

/// The path of the challenge, which a nonce follows. It needs no token: the client has not trusted the server with one yet.
pub(crate) const PATH: &str = "/mcp/proof/";

/// The length of a nonce and of a proof.
const LENGTH: usize = 64;

/// The facts with which a server proves that it is the one of its database.
#[derive(Clone)]
pub struct Proof {
    secret: String,
    port: u16,
}

impl std::fmt::Debug for Proof {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Proof").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Proof {
    /// The proof of the server that listens on `port` and wrote `secret` to its `server.json`.
    pub fn new(secret: String, port: u16) -> Self {
        Self { secret, port }
    }

    /// Returns the proof for a nonce.
    fn prove(&self, nonce: &str) -> String {
        self.mac(nonce).finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether `answer` is the proof for `nonce`, compared in constant time.
    pub(crate) fn verify(&self, nonce: &str, answer: &str) -> bool {
        let bytes: Option<Vec<u8>> = (answer.len() == LENGTH && answer.is_ascii())
            .then(|| (0..LENGTH).step_by(2).map(|at| u8::from_str_radix(&answer[at..at + 2], 16).ok()).collect())
            .flatten();
        bytes.is_some_and(|bytes| self.mac(nonce).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, nonce: &str) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).expect("any length");
        mac.update(format!("vibe-relay server on port {}, nonce {nonce}", self.port).as_bytes());
        mac
    }
}

/// Returns the route that answers challenges.
pub(crate) fn router(proof: Proof) -> Router {
    Router::new().route(&format!("{PATH}{{nonce}}"), get(answer)).with_state(proof)
}

async fn answer(State(proof): State<Proof>, Path(nonce): Path<String>) -> Result<String, Response> {
    let is_nonce = nonce.len() == LENGTH && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_nonce { Ok(proof.prove(&nonce)) } else { Err(failure::invalid_nonce()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proof_holds_for_its_secret_port_and_nonce_only() {
        let nonce = "0".repeat(LENGTH);
        let proof = Proof::new("secret".to_owned(), 9400);
        let answer = proof.prove(&nonce);
        assert!(proof.verify(&nonce, &answer));
        for other in [Proof::new("secret".to_owned(), 9401), Proof::new("guess".to_owned(), 9400)] {
            assert!(!other.verify(&nonce, &answer), "{other:?}");
        }
        assert!(!proof.verify(&"1".repeat(LENGTH), &answer));
        for answer in ["", "zz", &"é".repeat(32), &"g".repeat(LENGTH), &answer[1..], &format!("{answer}00")] {
            assert!(!proof.verify(&nonce, answer), "{answer}");
        }
        assert_eq!(format!("{proof:?}"), "Proof { port: 9400, .. }");
    }
}
