//! A server that no client can hold up.
//!
//! Every connection is in one of three phases, and each has a limit: a head is coming, a body is coming, or nothing.
//! Only an answer that is being made has none, since it is the server's own. At the most connections, one more closes
//! the connection that was unused for longest; if all wait for an answer, the new one is closed. A client that a
//! limit hits sees its connection closed, or 400 for a body; no other client notices.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::activity::{Activity, Watched};
use crate::body::BoundedBody;
use crate::connection::Open;
use crate::limits::Limits;

/// Serves until the future is dropped, which closes all connections. `malformed` gets the error of each connection
/// that did not speak HTTP.
pub async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    malformed: impl Fn(&hyper::Error) + Clone + Send + 'static,
) {
    let held = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    let mut connections: Vec<Connection> = Vec::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: others have to end first.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        while tasks.try_join_next().is_some() {}
        connections.retain(|connection| !connection.task.is_finished());
        if connections.len() >= limits.connections && !close_one(&mut connections) {
            continue;
        }
        let activity = Arc::new(Activity::new());
        let one = one(stream, routes.clone(), limits, Arc::clone(&activity), Arc::clone(&held));
        let malformed = malformed.clone();
        let task = tasks.spawn(async move {
            if let Err(error) = one.await
                && error.is_parse()
            {
                malformed(&error);
            }
        });
        connections.push(Connection { task, activity });
    }
}

struct Connection {
    task: AbortHandle,
    activity: Arc<Activity>,
}

/// Closes the connection that has been unused for longest; false if all wait for an answer.
fn close_one(connections: &mut Vec<Connection>) -> bool {
    let unused = connections.iter().enumerate();
    let unused = unused.filter_map(|(nth, one)| Some((one.activity.unused_since()?, nth)));
    let Some((_, nth)) = unused.min() else { return false };
    connections.swap_remove(nth).task.abort();
    true
}

/// Serves a connection to its end. An error if it broke or did not speak HTTP; none if a limit ended it.
async fn one(
    stream: TcpStream,
    routes: Router,
    limits: Limits,
    activity: Arc<Activity>,
    held: Arc<AtomicUsize>,
) -> Result<(), hyper::Error> {
    let _ = stream.set_nodelay(true);
    let stream = Watched { stream, activity: Arc::clone(&activity) };
    let answers = TowerToHyperService::new(routes);
    let of_it = Arc::clone(&activity);
    let open = Open::new();
    let itself = open.connection();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        of_it.begin();
        request.extensions_mut().insert(itself.clone());
        let request = request.map(|body| BoundedBody::bounding(body, limits.body, &held, limits.body_bytes));
        let (answer, of_it) = (hyper::service::Service::call(&answers, request), Arc::clone(&of_it));
        async move {
            let answer: Result<Response, Infallible> = answer.await;
            of_it.end();
            answer
        }
    });
    // hyper's own clock is off: ours tells an idle connection from a slow head.
    let connection = hyper::server::conn::http1::Builder::new()
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        ended = connection => ended,
        () = activity.overdue(&limits) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Bytes;
    use axum::routing::post;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    const HEAD: &str = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n";

    fn limits() -> Limits {
        Limits {
            head: Duration::from_secs(10),
            body: Duration::from_secs(20),
            idle: Some(Duration::from_secs(60)),
            connections: 2,
            body_bytes: 6,
        }
    }

    /// A server that answers with what it is sent.
    async fn server(limits: Limits) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/", post(|body: Bytes| async move { body }));
        tokio::spawn(serve(listener, routes, limits, |_| {}));
        address
    }

    async fn client(address: SocketAddr, says: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(says.as_bytes()).await.unwrap();
        stream
    }

    /// Reads until the server closes the connection. The clock stands still as long as anything else can happen.
    async fn rest(mut stream: TcpStream) -> String {
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        String::from_utf8(text).unwrap()
    }

    async fn answer(stream: &mut TcpStream) -> String {
        let mut text = [0; 4096];
        let length = stream.read(&mut text).await.unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_does_not_end_is_closed_though_it_goes_on() {
        let began = Instant::now();
        let mut slow = client(server(limits()).await, "POST / HTTP/1.1\r\n").await;
        let mut bytes = 0;
        while slow.write_all(b"x: y\r\n").await.is_ok() && bytes < 1000 {
            bytes += 1;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(bytes < 1000, "closed after {:?}", began.elapsed());
        assert!(began.elapsed() >= Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_is_refused() {
        let slow = client(server(limits()).await, &format!("{HEAD}pi")).await;
        assert!(rest(slow).await.starts_with("HTTP/1.1 400"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed_after_its_time_and_not_before() {
        let mut idle = client(server(limits()).await, &format!("{HEAD}ping")).await;
        assert!(answer(&mut idle).await.ends_with("ping"));
        tokio::time::sleep(Duration::from_secs(50)).await;
        idle.write_all(format!("{HEAD}pong").as_bytes()).await.unwrap();
        assert!(answer(&mut idle).await.ends_with("pong"));
        let began = Instant::now();
        assert_eq!(rest(idle).await, "");
        assert!(began.elapsed() >= Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_an_idle_connection_stays() {
        let mut idle = client(server(Limits { idle: None, ..limits() }).await, &format!("{HEAD}ping")).await;
        assert!(answer(&mut idle).await.ends_with("ping"));
        tokio::time::sleep(Duration::from_secs(10_000)).await;
        idle.write_all(format!("{HEAD}pong").as_bytes()).await.unwrap();
        assert!(answer(&mut idle).await.ends_with("pong"));
    }

    #[tokio::test]
    async fn for_one_connection_too_many_the_oldest_that_is_idle_is_closed() {
        let address = server(limits()).await;
        let oldest = client(address, "").await;
        let (mut second, mut third) = (client(address, "").await, client(address, "").await);
        assert_eq!(rest(oldest).await, "");
        for stream in [&mut second, &mut third] {
            stream.write_all(format!("{HEAD}ping").as_bytes()).await.unwrap();
            assert!(answer(stream).await.ends_with("ping"));
        }
    }

    #[tokio::test]
    async fn more_bytes_than_may_wait_are_refused_and_there_is_room_again() {
        let address = server(limits()).await;
        let head = HEAD.replace('4', "8");
        let refused = client(address, &format!("{head}1234567")).await;
        assert!(rest(refused).await.starts_with("HTTP/1.1 400"));
        let mut next = client(address, &format!("{HEAD}ping")).await;
        assert!(answer(&mut next).await.ends_with("ping"));
    }
}
