//! Answers every request. Parameters of the workload are what the load asks with.

use axum::Router;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT").expect("kumite sets PORT");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, Router::new().fallback(answer)).await
}

async fn answer() -> &'static str {
    "not written yet"
}
