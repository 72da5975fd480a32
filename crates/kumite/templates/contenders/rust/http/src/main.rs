//! Answers every request. Parameters of the workload are what the load asks with.

use axum::Router;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let [host, port] = ["HOST", "PORT"].map(|name| std::env::var(name).expect("kumite sets HOST and PORT"));
    let listener = TcpListener::bind(format!("{host}:{port}")).await?;
    axum::serve(listener, Router::new().fallback(answer)).await
}

async fn answer() -> &'static str {
    "not written yet"
}
