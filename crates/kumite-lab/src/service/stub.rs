//! The delay stub as a service: this program itself, run as `kumite stub`.

use std::net::{SocketAddrV4, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kumite_record::{Lateness, Metric, StubResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::figure::Figure;
use super::process::Process;
use super::registration::{Registration, schema_of};
use super::{Counts, Service, Serving, StartOrder, Variables};
use crate::error::Error;
use crate::halt::Halt;
use crate::parameter::Parameters;
use crate::port::free_port;

const READY: Duration = Duration::from_secs(10);

pub(super) static KIND: Registration = Registration {
    name: "stub",
    schema: schema_of::<Stub>,
    read: |given| {
        let stub: Stub = given.keys()?;
        given.check_figure("delay_ms", &stub.delay_ms)?;
        Ok(Arc::new(stub))
    },
};

/// kumite's delay stub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stub {
    /// The delay of each answer: a number of milliseconds, or `"$parameter"`.
    #[serde(default = "Figure::zero")]
    delay_ms: Figure,
    /// The body of each answer; `pong` if it is not given.
    #[serde(default = "pong")]
    body: String,
}

fn pong() -> String {
    "pong".to_owned()
}

struct RunningStub {
    process: Process,
    address: SocketAddrV4,
    json: PathBuf,
}

impl Service for Stub {
    fn metrics(&self) -> Vec<Metric> {
        vec![Metric::count("requests", "requests that it answered."), late()]
    }

    fn start(&self, parameters: &Parameters, order: &StartOrder) -> Result<Box<dyn Serving>, Halt> {
        let address = SocketAddrV4::new(order.host, free_port(order.host)?);
        let delay_ms = self.delay_ms.value(parameters)?;
        let json = order.folder.join("stub.json");
        let env = [
            ("KUMITE".to_owned(), own_program()?),
            ("BODY".to_owned(), self.body.clone()),
            ("JSON".to_owned(), json.display().to_string()),
        ];
        let command = format!(
            "exec \"$KUMITE\" stub --host {} --port {} --delay {delay_ms}ms --body \"$BODY\" --json \"$JSON\"",
            address.ip(),
            address.port()
        );
        let mut process = Process::start(&command, &order.folder, &env, order)?;
        process.wait_ready(READY, order.stop, || TcpStream::connect(address).is_ok())?;
        Ok(Box::new(RunningStub { process, address, json }))
    }
}

impl Serving for RunningStub {
    fn variables(&self) -> Variables {
        vec![("URL".to_owned(), format!("http://{}/", self.address))]
    }

    fn process(&mut self) -> Option<&mut Process> {
        Some(&mut self.process)
    }

    fn end(mut self: Box<Self>) -> Result<Counts, Error> {
        self.process.runs("before the end")?;
        self.process.stop();
        let did: StubResult = what_it_did(&self.json)?;
        Ok(counts(("requests", did.requests), did.late_us))
    }
}

/// The metric that the delay stub and the slow disk have in common: how late their waits ended.
pub(super) fn late() -> Metric {
    Metric::new("late_p99_us", "99th percentile of how late its waits ended.")
}

/// The figures of the delay stub or the slow disk: its own count, and how late its waits ended.
pub(super) fn counts(counted: (&'static str, u64), late_us: Option<Lateness>) -> Counts {
    let late = late_us.and_then(|late| late.p99).map(|late| ("late_p99_us", late));
    [(counted.0, counted.1 as f64)].into_iter().chain(late).collect()
}

/// Reads the report that the delay stub or the slow disk wrote when it was ended. An error if there is none that can
/// be read.
pub(super) fn what_it_did<T: DeserializeOwned>(json: &Path) -> Result<T, Error> {
    const UNSAID: &str = "did not say what it did";
    let text = std::fs::read_to_string(json).map_err(Error::at(json)).map_err(Error::step(UNSAID))?;
    serde_json::from_str(&text).map_err(Error::step(UNSAID))
}

/// The path of the program that this process executes. An error if it cannot be found, or is not UTF-8.
pub(super) fn own_program() -> Result<String, Error> {
    let program = std::env::current_exe().map_err(Error::step("cannot find this program"))?;
    program.into_os_string().into_string().map_err(|name| Error::OwnName { path: name.into() })
}
