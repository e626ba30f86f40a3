//! Signatures of webhooks, as <https://www.standardwebhooks.com> defines them: an HMAC over the id, the time and the body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::team::webhook::Secret;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The mark of a secret that is the key in base64.
const ENCODED: &str = "whsec_";

/// Returns the content of the header `webhook-signature`.
pub(super) fn signature(secret: &Secret, id: &str, seconds: &str, body: &str) -> String {
    // A secret without the mark, or one that is not base64, is the key itself.
    let decoded = secret.expose().strip_prefix(ENCODED).and_then(|encoded| STANDARD.decode(encoded).ok());
    let key = decoded.unwrap_or_else(|| secret.expose().as_bytes().to_vec());
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any length");
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn signature_is_that_of_the_standard() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = signature(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn every_part_is_signed() {
        let secret = Secret::parse("0123456789abcdef").unwrap();
        let signed = signature(&secret, "a", "1", "{}");
        for other in [signature(&secret, "b", "1", "{}"), signature(&secret, "a", "2", "{}"), signature(&secret, "a", "1", "{ }")] {
            assert_ne!(other, signed);
        }
        assert_ne!(signature(&Secret::parse("0123456789abcdeg").unwrap(), "a", "1", "{}"), signed);
    }
}
