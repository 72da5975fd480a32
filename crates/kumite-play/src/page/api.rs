//! The routes and answers of the server.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Request, State as AppState};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::guard::Guard;
use super::playing::{Busy, How, Outcome, Playing, Turn, TurnKind};
use crate::{Held, Macro, NotationError, Pacing, Schedule};

/// The most bytes of a request's body: a macro of about a hundred thousand lines.
const MOST_BODY_BYTES: usize = 1 << 20;
/// The number of frames for which a button of the page is pressed.
const PRESS_FRAMES: u32 = 2;

/// The content security policy: the page may load nothing but from this server, and be in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) struct App {
    pub guard: Guard,
    pub playing: Arc<Playing>,
    pub fps: f64,
    /// The [`Device::description`](crate::Device::description) of the device, as it was opened first; none if it has
    /// none.
    pub device: Option<String>,
}

type Asked = Result<Bytes, BytesRejection>;
type Answer = (StatusCode, Json<Value>);

pub(crate) fn routes(app: Arc<App>) -> Router {
    let file = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
    };
    Router::new()
        .route("/", file("text/html; charset=utf-8", include_str!("page.html")))
        .route("/page.css", file("text/css; charset=utf-8", include_str!("page.css")))
        .route("/page.js", file("text/javascript; charset=utf-8", include_str!("page.js")))
        .route("/icon.svg", file("image/svg+xml", include_str!("icon.svg")))
        .route("/play", post(play))
        .route("/press", post(press))
        .route("/stop", post(stop))
        .route("/status", get(status))
        .fallback(|| async { message_answer(StatusCode::NOT_FOUND, "there is nothing at that address") })
        .method_not_allowed_fallback(|| async {
            message_answer(StatusCode::METHOD_NOT_ALLOWED, "that address has another method")
        })
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .layer(from_fn_with_state(Arc::clone(&app), guarded))
        .with_state(app)
}

async fn guarded(AppState(app): AppState<Arc<App>>, request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let mut response = match app.guard.check(request.method(), &uri, request.headers()) {
        Ok(()) => {
            let mut response = next.run(request).await;
            if let Some(cookie) = app.guard.set_cookie(&uri) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err((status, why)) => message_answer(status, why).into_response(),
    };
    let headers: [(HeaderName, &'static str); 4] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The link has the token, which no other site is to get.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(HeaderMap::from_iter(headers));
    response
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToPlay {
    r#macro: String,
    #[serde(default)]
    replace: bool,
}

async fn play(AppState(app): AppState<Arc<App>>, asked: Asked) -> Result<Answer, Answer> {
    let ToPlay { r#macro, replace } = read(asked)?;
    started(&app, TurnKind::Macro, schedule(&r#macro)?, replace)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToPress {
    keys: String,
}

async fn press(AppState(app): AppState<Arc<App>>, asked: Asked) -> Result<Answer, Answer> {
    let ToPress { keys } = read(asked)?;
    let schedule = schedule(&format!("{keys} {PRESS_FRAMES}"))?;
    // The next turn waits for a press, so a press must be short.
    match schedule.0[..] {
        [Held { frames: PRESS_FRAMES, .. }] => started(&app, TurnKind::Press, schedule, false),
        _ => Err(message_answer(StatusCode::BAD_REQUEST, "expected the keys of one line, such as 2,mk")),
    }
}

fn schedule(text: &str) -> Result<Schedule, Answer> {
    let parsed = Macro::parse(text.as_bytes()).map_err(|NotationError { line, column, what }| {
        let place = json!({ "line": line, "column": column, "message": what });
        (StatusCode::BAD_REQUEST, Json(place))
    })?;
    Ok(parsed.schedule())
}

fn started(app: &App, kind: TurnKind, schedule: Schedule, replace: bool) -> Result<Answer, Answer> {
    match app.playing.play(kind, schedule, replace) {
        Ok(number) => Ok((StatusCode::ACCEPTED, Json(json!({ "number": number })))),
        Err(Busy) => {
            let (playing, _) = app.playing.look();
            let long = playing
                .filter(|turn| turn.kind == TurnKind::Macro)
                .map(|turn| PlayPosition::from_turn(&turn));
            let message = match long {
                Some(PlayPosition { at, of, .. }) => {
                    let or = if kind == TurnKind::Macro { ", or replace it" } else { "" };
                    format!("A macro plays, state {at} of {of}: stop it first{or}.")
                }
                None => "Others wait to be played: try again.".to_owned(),
            };
            Err(message_answer(StatusCode::CONFLICT, &message))
        }
    }
}

/// Stops the turn that plays and those that wait. The body is read, since the next request comes behind it.
async fn stop(AppState(app): AppState<Arc<App>>, _: Asked) -> Answer {
    app.playing.stop();
    (StatusCode::ACCEPTED, Json(json!({})))
}

async fn status(AppState(app): AppState<Arc<App>>) -> Json<Status> {
    let (playing, last) = app.playing.look();
    let (fps, device) = (app.fps, app.device.clone());
    Json(Status {
        fps,
        device,
        playing: playing.as_ref().map(PlayPosition::from_turn),
        last: last.map(LastPlay::from_outcome),
    })
}

#[derive(Serialize)]
struct Status {
    fps: f64,
    device: Option<String>,
    playing: Option<PlayPosition>,
    last: Option<LastPlay>,
}

/// The position of a play, as the status shows it.
#[derive(Serialize)]
struct PlayPosition {
    number: u64,
    kind: &'static str,
    /// The number of the state that was written last, counted from 1; 0 before the first.
    at: usize,
    of: usize,
    /// The keys of that state, `5` if it has none; empty before the first. The release at the end is not shown.
    keys: String,
}

impl PlayPosition {
    fn from_turn(turn: &Turn) -> PlayPosition {
        let states = &turn.schedule.0;
        // The release at the end is written, too.
        let at = turn.at.load(Ordering::Relaxed).min(states.len());
        let keys = at.checked_sub(1).and_then(|now| states.get(now)).map(|held| held.state.to_string());
        let (number, kind) = (turn.number, kind(turn.kind));
        PlayPosition { number, kind, at, of: states.len(), keys: keys.unwrap_or_default() }
    }
}

#[derive(Serialize)]
struct LastPlay {
    number: u64,
    kind: &'static str,
    ended: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    real_time: bool,
    pacing: Option<PacingSummary>,
}

impl LastPlay {
    fn from_outcome(outcome: Outcome) -> LastPlay {
        let (ended, error) = match outcome.how {
            How::Whole => ("whole", None),
            How::Stopped => ("stopped", None),
            How::Failed(failure) => ("failed", Some(failure.to_string())),
        };
        let Outcome { number, kind: of, real_time, pacing, .. } = outcome;
        LastPlay {
            number,
            kind: kind(of),
            ended,
            error,
            real_time,
            pacing: pacing.map(PacingSummary::from_pacing),
        }
    }
}

#[derive(Serialize)]
struct PacingSummary {
    states: usize,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    missed_frames: usize,
}

impl PacingSummary {
    fn from_pacing(pacing: Pacing) -> PacingSummary {
        let Pacing { states, p50_us, p99_us, max_us, missed_frames, .. } = pacing;
        PacingSummary { states, p50_us, p99_us, max_us, missed_frames }
    }
}

fn kind(kind: TurnKind) -> &'static str {
    match kind {
        TurnKind::Macro => "macro",
        TurnKind::Press => "press",
    }
}

/// Reads a request's body, which must be JSON.
fn read<T: DeserializeOwned>(asked: Asked) -> Result<T, Answer> {
    let body = asked.map_err(|why| match why.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            message_answer(status, "That is more than the 1 MiB that is taken here: play it from a file.")
        }
        status => message_answer(status, &why.body_text()),
    })?;
    serde_json::from_slice(&body).map_err(|why| message_answer(StatusCode::BAD_REQUEST, &why.to_string()))
}

fn message_answer(status: StatusCode, message: &str) -> Answer {
    (status, Json(json!({ "message": message })))
}
