//! A web service whose requests make three queries each, over a pool of four connections: axum and sqlx.

mod line;

use std::{env, error::Error, sync::Arc};

use axum::{Router, extract::State, http::StatusCode, routing::get, serve::ListenerExt};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use tokio::net::TcpListener;

use line::Line;

const CONNECTIONS: u32 = 4;
const QUERIES_PER_REQUEST: usize = 3;

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
        .password(&env::var("DB_PASSWORD")?)
        .database("kumite");
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .min_connections(CONNECTIONS)
        .connect_with(database)
        .await?;
    let waiting_max = option("--waiting").map_or(Ok(usize::MAX), |most| most.parse())?;
    let last_first = option("--order").as_deref() == Some("unfair");
    let line = Line::new(CONNECTIONS as usize, waiting_max, last_first);

    let service = Router::new()
        .route("/sleep", get(|State(database)| serve(database, SLEEP)))
        .route("/scan", get(|State(database)| serve(database, SCAN)))
        .method_not_allowed_fallback(async || StatusCode::NOT_FOUND)
        .with_state(Database { pool, line });
    let address = format!("{}:{}", env::var("HOST")?, env::var("PORT")?);
    let listener = TcpListener::bind(address).await?.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, service).await?;
    Ok(())
}

fn option(name: &str) -> Option<String> {
    env::args().skip_while(|argument| argument != name).nth(1)
}

/// A pool, and the line before it, which lets in no more than there are connections.
#[derive(Clone)]
struct Database {
    pool: PgPool,
    line: Arc<Line>,
}

async fn serve(database: Database, sql: &'static str) -> Result<&'static str, (StatusCode, String)> {
    for done in 0..QUERIES_PER_REQUEST {
        let error = |how| (StatusCode::INTERNAL_SERVER_ERROR, format!("{how} after {done}"));
        let _place = database.line.enter().await.map_err(|_| error("refused"))?;
        sqlx::query(sql).execute(&database.pool).await.map_err(|_| error("failed"))?;
    }
    Ok("done")
}
