//! AWS's own DynamoDB Local as a service, empty at the start of each trial and in memory.

use std::io::{self, Read, Write};
use std::net::SocketAddrV4;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kumite_process::{Finished, Spawn, run};
use schemars::JsonSchema;
use serde::Deserialize;

use super::process::Process;
use super::registration::{Registration, schema_of};
use super::{Counts, Fetching, Service, Serving, StartOrder, Variables};
use crate::contender::Install;
use crate::contender::Tools;
use crate::error::{Error, Fault, chain};
use crate::halt::Halt;
use crate::parameter::Parameters;
use crate::port::free_port;
use crate::unfit::Unfit;
use kumite_process::{how_it_ended, last_lines};

/// The file that tells Maven what to fetch.
const POM: &str = include_str!("dynamodb/pom.xml");
/// The version of DynamoDB Local, which is the one in the POM.
const VERSION: &str = "2.6.1";

const FETCH_LIMIT: Duration = Duration::from_secs(10 * 60);
const READY: Duration = Duration::from_secs(60);
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
const ANSWER_BYTES: u64 = 16 << 20;

/// One request of DynamoDB's API: an operation such as `CreateTable`, and its body as JSON.
#[derive(Clone, Debug, PartialEq)]
struct Request {
    operation: String,
    body: String,
}

pub(super) static KIND: Registration = Registration {
    name: "dynamodb",
    schema: schema_of::<Dynamodb>,
    read: |given| {
        let mut dynamodb: Dynamodb = given.keys()?;
        if let Some(setup) = &dynamodb.setup {
            let setup = given.file("setup", setup)?;
            let text = std::fs::read_to_string(&setup).map_err(Error::at(&setup));
            let read =
                text.and_then(|text| requests(&text).map_err(Error::step(setup.display().to_string())));
            dynamodb.requests = read.map_err(|why| given.wrong(&["setup"], chain(&why)))?;
        }
        Ok(Arc::new(dynamodb))
    },
};

/// AWS's DynamoDB Local, in memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Dynamodb {
    /// A file in the experiment's folder by which the tables are filled before each trial: a JSON list of requests,
    /// each an object `{"PutItem": {…}}`.
    setup: Option<PathBuf>,
    /// The requests of the setup file, in their order.
    #[serde(skip)]
    requests: Vec<Request>,
}

struct RunningDynamodb {
    process: Process,
    address: SocketAddrV4,
}

impl Service for Dynamodb {
    fn needs(&self) -> Vec<String> {
        ["java >= 17", "mvn"].map(str::to_owned).into()
    }

    fn install(&self) -> Install {
        Install { apt: ["default-jre-headless", "maven"].map(str::to_owned).into(), ..Install::default() }
    }

    fn fetch(&self, env: &Variables, fetching: &mut Fetching) -> Result<Variables, Error> {
        Ok(vec![("CLASSPATH".to_owned(), class_path(env, fetching)?)])
    }

    fn version(&self, tools: &Tools) -> String {
        format!("{VERSION}, java {}", tools.version().unwrap_or_default())
    }

    fn start(&self, _: &Parameters, order: &StartOrder) -> Result<Box<dyn Serving>, Halt> {
        if !order.host.is_loopback() {
            return Err(Unfit::new(
                "knows no password, and so cannot have a node of its own: leave it on the contenders'",
            )
            .into());
        }
        let port = free_port(order.host)?;
        let address = SocketAddrV4::new(order.host, port);
        // It lives for some seconds and has one CPU, so that a second compiler and a concurrent collector would not pay. It
        // leaves a native library in Java's folder for temporary files if it is killed. It has no option to listen on
        // loopback alone.
        let command = format!(
            "exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir=\"$PWD\" \
             --enable-native-access=ALL-UNNAMED com.amazonaws.services.dynamodbv2.local.main.ServerRunner \
             -inMemory -sharedDb -disableTelemetry -port {port}"
        );
        let mut process = Process::start(&command, &order.folder, order.env, order)?;
        let listing = Request { operation: "ListTables".to_owned(), body: "{}".to_owned() };
        process.wait_ready(READY, order.stop, || ask(address, &listing).is_ok())?;
        for (request, nth) in self.requests.iter().zip(1..) {
            Halt::if_set(order.stop)?;
            let operation = &request.operation;
            ask(address, request)
                .map_err(Error::step(format!("refused its setup's request {nth}, {operation}")))?;
        }
        Ok(Box::new(RunningDynamodb { process, address }))
    }
}

impl Serving for RunningDynamodb {
    fn variables(&self) -> Variables {
        let address = self.address;
        vec![
            ("URL".to_owned(), format!("http://{address}")),
            ("HOST".to_owned(), address.ip().to_string()),
            ("PORT".to_owned(), address.port().to_string()),
        ]
    }

    fn process(&mut self) -> Option<&mut Process> {
        Some(&mut self.process)
    }

    fn end(mut self: Box<Self>) -> Result<Counts, Error> {
        self.process.runs("before the end")?;
        self.process.stop();
        Ok(Counts::new())
    }
}

/// The jars of DynamoDB Local, as a class path. Maven has them in its own repository, or fetches them and `note` is
/// told; an error if it cannot, or takes longer than [`FETCH_LIMIT`]. Once it has answered, Maven is not asked again
/// in this process, because that takes seconds.
fn class_path(env: &Variables, fetching: &mut Fetching) -> Result<String, Error> {
    let Fetching { log, stop, note } = fetching;
    static KNOWN: Mutex<Option<String>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(known) = &*known {
        return Ok(known.clone());
    }
    let folder = tempfile::tempdir().map_err(Error::step("cannot make a folder for its POM"))?;
    let pom = folder.path().join("pom.xml");
    std::fs::write(&pom, POM).map_err(Error::cannot("write its POM", &pom))?;
    let maven = |offline| {
        let command = format!(
            "exec mvn{offline} -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath \
             -DincludeScope=runtime -Dmdep.outputFile=class-path"
        );
        let spawn =
            Spawn { command: &command, dir: folder.path(), env, keeps: None, cores: &[], log, group: None };
        run(&spawn, FETCH_LIMIT, stop)
    };
    let fetched = |done: Result<Finished, kumite_process::Error>| match done {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => Err(Fault::new(format!("{}: {}", how_it_ended(done.status), first_error(log))).into()),
        Err(error) => Err(error.into()),
    };
    if fetched(maven(" -o")).is_err() && !stop.load(Ordering::Relaxed) {
        note(&format!("fetching DynamoDB Local {VERSION}"));
        fetched(maven("")).map_err(|why: Error| {
            let why = chain(&why);
            Fault::new(format!(
                "cannot be had: Maven is to fetch DynamoDB Local {VERSION} from Maven Central, and {why}"
            ))
        })?;
    }
    let path = std::fs::read_to_string(folder.path().join("class-path"))
        .map_err(Error::step("cannot be had: Maven does not say where it is"))?;
    Ok(known.insert(path.trim().to_owned()).clone())
}

/// The first error in Maven's log, without the advice that follows it. Without an error, the last lines of the log.
fn first_error(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let error = text.lines().find_map(|line| line.split_once("[ERROR] "));
    let error = error.map(|(_, what)| what.split(" -> [Help").next().unwrap_or(what).trim());
    error.map_or_else(|| last_lines(log), str::to_owned)
}

/// The requests of a setup file: a list of objects with one member each, the operation. An error says what is wrong
/// with the file.
fn requests(text: &str) -> Result<Vec<Request>, Unfit> {
    let list: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(text).map_err(|error| Unfit::new(format!("no list of requests: {error}")))?;
    let request = |(object, nth): (serde_json::Map<_, _>, usize)| {
        let mut members = object.into_iter();
        match (members.next(), members.next()) {
            (Some((operation, body)), None)
                if body.is_object()
                    && !operation.is_empty()
                    && operation.chars().all(|c| c.is_ascii_alphanumeric()) =>
            {
                Ok(Request { operation, body: body.to_string() })
            }
            _ => Err(Unfit::new(format!("request {nth} is not of the form {{\"PutItem\": {{…}}}}"))),
        }
    };
    list.into_iter().zip(1..).map(request).collect()
}

/// Sends one request to the server. An error if the status of the answer is another than 200, or the server is silent
/// for [`ANSWER_LIMIT`]. Its signature is made up, since the server looks at its form alone.
fn ask(address: SocketAddrV4, request: &Request) -> Result<(), Error> {
    let Request { operation, body } = request;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\
         Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=kumite/20120810/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=0\r\n\r\n",
        body.len()
    );
    let exchange = || -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        stream.set_write_timeout(Some(ANSWER_LIMIT))?;
        stream.write_all((head + body).as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().map_err(Error::step("no answer"))?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or_default();
    if status.starts_with("HTTP/1.1 200 ") {
        Ok(())
    } else {
        Err(Fault::new(format!("{status} {body}")).into())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};

    use super::*;

    #[test]
    fn the_version_is_the_one_that_is_fetched() {
        assert!(POM.contains(&format!("<version>{VERSION}</version>")));
    }

    #[test]
    fn a_setup_is_a_list_of_requests() {
        let read = requests(r#"[{"PutItem": {"TableName": "a"}}, {"GetItem": {}}]"#).unwrap();
        let expected = [("PutItem", r#"{"TableName":"a"}"#), ("GetItem", "{}")];
        let expected = expected
            .map(|(operation, body)| Request { operation: operation.to_owned(), body: body.to_owned() });
        assert_eq!(read, expected);
        for (text, expected) in [
            ("{", "no list of requests"),
            ("{}", "no list of requests"),
            ("[1]", "no list of requests"),
            (r#"[{"A": {}}, {}]"#, "request 2 is not"),
            (r#"[{"A": {}, "B": {}}]"#, "request 1 is not"),
            (r#"[{"A": 1}]"#, "request 1 is not"),
            (r#"[{"A\r\nB": {}}]"#, "request 1 is not"),
        ] {
            let found = requests(text).unwrap_err().to_string();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn it_is_asked_as_its_clients_ask_and_a_refusal_is_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("it is IPv4") };
        let server = std::thread::spawn(move || {
            let answers =
                ["HTTP/1.1 200 OK\r\n\r\n{}", "HTTP/1.1 400 Bad Request\r\n\r\n{\"Message\":\"no table\"}"];
            answers.map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = Vec::new();
                while !asked.ends_with(b"{\"a\":1}") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    asked.push(byte[0]);
                }
                stream.write_all(answer.as_bytes()).unwrap();
                String::from_utf8(asked).unwrap()
            })
        });
        let request = Request { operation: "PutItem".to_owned(), body: "{\"a\":1}".to_owned() };
        ask(address, &request).unwrap();
        let refused = ask(address, &request).unwrap_err().to_string();
        assert_eq!(refused, "HTTP/1.1 400 Bad Request {\"Message\":\"no table\"}");
        let [asked, _] = server.join().unwrap();
        assert!(asked.contains("\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n"), "{asked}");
        assert!(asked.contains("\r\nContent-Length: 7\r\n"), "{asked}");
        assert_eq!(
            chain(&ask(address, &request).unwrap_err()),
            "no answer: Connection refused (os error 111)"
        );
    }

    #[test]
    fn of_what_maven_says_the_first_error_is_told() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let says =
            "\u{1b}[m[ERROR] no such host -> [Help 1]\n[ERROR] \n[ERROR] To see the full stack trace\n";
        std::fs::write(log.path(), says).unwrap();
        assert_eq!(first_error(log.path()), "no such host");
        std::fs::write(log.path(), "killed\n").unwrap();
        assert_eq!(first_error(log.path()), "killed");
    }
}
