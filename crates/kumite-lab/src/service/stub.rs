//! The delay stub as a service: this very program, as `kumite stub`.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use kumite_record::StubResult;

use super::spec::StubSpec;
use super::{GRACE, Order, Parameters, Process, Serving, variable};
use crate::halt::Halt;
use crate::port::free_port;

const READY: Duration = Duration::from_secs(10);

pub(super) struct Stub {
    name: String,
    process: Process,
    port: u16,
    json: PathBuf,
}

impl Stub {
    pub fn start(spec: &StubSpec, parameters: &Parameters, order: &Order) -> Result<Stub, Halt> {
        let port = free_port()?;
        let delay_ms = spec.delay_ms.of(parameters)?;
        let json = order.folder.join("stub.json");
        let env = [
            ("KUMITE".to_owned(), own_program()?),
            ("BODY".to_owned(), spec.body.clone()),
            ("JSON".to_owned(), json.display().to_string()),
        ];
        let command = format!(
            "exec \"$KUMITE\" stub --port {port} --delay {delay_ms}ms --body \"$BODY\" --json \"$JSON\""
        );
        let mut process = Process::start(&command, &env, order)?;
        process.wait_ready(READY, order.stop, || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
        Ok(Stub { name: order.name.to_owned(), process, port, json })
    }
}

impl Serving for Stub {
    fn name(&self) -> &str {
        &self.name
    }

    fn env(&self) -> Vec<(String, String)> {
        vec![(variable(&self.name, "URL"), format!("http://127.0.0.1:{}/", self.port))]
    }

    fn begin(&mut self) -> Result<(), String> {
        self.process.begin();
        Ok(())
    }

    fn cpu(&mut self) -> Duration {
        self.process.cpu()
    }

    fn end(mut self: Box<Self>) -> Result<BTreeMap<String, f64>, String> {
        self.process.runs("before the end")?;
        self.process.tree.stop(GRACE);
        let unreadable = |what: String| format!("did not say what it did: {what}");
        let text = std::fs::read_to_string(&self.json).map_err(|error| unreadable(error.to_string()))?;
        let did: StubResult = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        let mut metrics = BTreeMap::from([("requests".to_owned(), did.requests as f64)]);
        metrics.extend(did.late_us.and_then(|late| late.p99).map(|late| ("late_p99_us".to_owned(), late)));
        Ok(metrics)
    }
}

/// The file that this process executes.
pub(super) fn own_program() -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    program
        .into_os_string()
        .into_string()
        .map_err(|name| format!("cannot be called {}: not UTF-8", name.display()))
}
