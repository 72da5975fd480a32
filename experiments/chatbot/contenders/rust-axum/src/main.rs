//! A chat bot that answers "ping" with "pong": a tokio task for each connection, routed by axum.

use std::{env, io};

use axum::{Router, extract::DefaultBodyLimit, http::StatusCode, routing::post, serve::ListenerExt};
use tokio::net::TcpListener;

const MESSAGE_BYTES_MAX: usize = 4096;

#[tokio::main]
async fn main() -> io::Result<()> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("{}", env!("VERSIONS"));
        return Ok(());
    }

    let [host, port] = ["HOST", "PORT"].map(|name| env::var(name).expect("HOST and PORT are set"));
    let listener = TcpListener::bind(format!("{host}:{port}")).await?.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let bot = Router::new().route("/", post(hear)).layer(DefaultBodyLimit::max(MESSAGE_BYTES_MAX));
    axum::serve(listener, bot).await
}

async fn hear(text: String) -> Result<&'static str, StatusCode> {
    if text == "ping" { Ok("pong") } else { Err(StatusCode::BAD_REQUEST) }
}
