//! A web service whose requests make three queries each, over a pool of four connections: axum and sqlx.

use std::{env, error::Error, time::Duration};

use axum::{Router, extract::State, http::StatusCode, routing::get, serve::ListenerExt};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use tokio::net::TcpListener;

const QUERIES_PER_REQUEST: usize = 3;
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);

const SLEEP: &str = "select pg_sleep(0.03)";
const SCAN: &str = "select count(*) from items where name like '%42%'";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("{}", env!("VERSIONS"));
        return Ok(());
    }

    let database = PgConnectOptions::new()
        .host(&env::var("DB_HOST")?)
        .port(env::var("DB_PORT")?.parse()?)
        .username("kumite")
        .password("kumite")
        .database("kumite");
    let pool = PgPoolOptions::new()
        .max_connections(4)
        .min_connections(4)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(database)
        .await?;

    let service = Router::new()
        .route("/sleep", get(|State(pool)| serve(pool, SLEEP)))
        .route("/scan", get(|State(pool)| serve(pool, SCAN)))
        .method_not_allowed_fallback(async || StatusCode::NOT_FOUND)
        .with_state(pool);
    let listener =
        TcpListener::bind(format!("127.0.0.1:{}", env::var("PORT")?)).await?.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
    axum::serve(listener, service).await?;
    Ok(())
}

async fn serve(pool: PgPool, sql: &'static str) -> Result<&'static str, (StatusCode, String)> {
    for done in 0..QUERIES_PER_REQUEST {
        sqlx::query(sql).execute(&pool).await.map_err(|error| {
            let how = if matches!(error, sqlx::Error::PoolTimedOut) { "refused" } else { "failed" };
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{how} after {done}"))
        })?;
    }
    Ok("done")
}
