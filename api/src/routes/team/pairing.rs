//! Pairing: the link that signs in another device of a person, and its QR code.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::team::pairing::{NewPairing, PAIRING_LIFETIME, Pairing, choose_host, device_name};
use domain::team::person::Right;
use qrcode::render::{svg, unicode};
use qrcode::{EcLevel, QrCode};

use crate::error::Result;
use crate::extract::Body;
use crate::sign_in::link;
use crate::state::AppState;

/// Create a link that pairs a phone or another device of yours
///
/// It signs one browser in, once, within ten minutes, under one of the configured `allowed_hosts`. The session has the name of the device, and
/// can be revoked like any other. A newer pairing replaces one that was not used yet.
#[utoipa::path(post, path = "/api/pairings", request_body = NewPairing, responses((status = 201, body = Pairing)))]
pub(crate) async fn pair_device(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewPairing>,
) -> Result<(StatusCode, Json<Pairing>)> {
    let person = caller.person(Right::Work, "pairing a device")?.id;
    let host = choose_host(&state.config.borrow().config.allowed_hosts, new.host.as_deref())?;
    let device = device_name(new.device.as_deref());
    let link = link(&format!("https://{host}"), &state.sign_in.pair(person, device.clone(), PAIRING_LIFETIME));
    let ends_at = db::now().after(PAIRING_LIFETIME);
    // A screen is not torn or stained, so the lowest level of correction gives the largest modules.
    let code = QrCode::with_error_correction_level(&link, EcLevel::L)?;
    let svg = code.render::<svg::Color<'_>>().min_dimensions(240, 240).build();
    let text = code.render::<unicode::Dense1x2>().build();
    Ok((StatusCode::CREATED, Json(Pairing { device, host, link, svg, text, ends_at })))
}
