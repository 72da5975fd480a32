//! Files to be read, on the disk of the system or on one that is slow.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use kumite_record::DiskResult;

use super::spec::FilesSpec;
use super::stub::own_program;
use super::{GRACE, Order, Parameters, Process, Serving, variable};
use crate::halt::Halt;

const READY: Duration = Duration::from_secs(10);

pub(super) struct Files {
    name: String,
    folder: PathBuf,
    slow: Option<Slow>,
}

/// The file system that delays reads.
struct Slow {
    process: Process,
    /// Goes after it.
    mount: Mount,
    json: PathBuf,
}

struct Mount(PathBuf);

impl Files {
    pub fn start(spec: &FilesSpec, parameters: &Parameters, order: &Order) -> Result<Files, Halt> {
        let count = spec.files.of(parameters)? as usize;
        let size_bytes = spec.size_bytes.of(parameters)? as usize;
        let delay_ms = spec.delay_ms.of(parameters)?;
        let folder = order.folder.join("files");
        std::fs::create_dir(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        kumite_disk::write_files(&folder, count, size_bytes).map_err(|error| error.to_string())?;
        let slow = if delay_ms > 0.0 { Some(Slow::start(&folder, delay_ms, order)?) } else { None };
        Ok(Files { name: order.name.to_owned(), folder, slow })
    }
}

impl Slow {
    fn start(folder: &std::path::Path, delay_ms: f64, order: &Order) -> Result<Slow, Halt> {
        let mount = order.folder.join("slow");
        std::fs::create_dir(&mount).map_err(|error| format!("cannot make {}: {error}", mount.display()))?;
        let json = order.folder.join("disk.json");
        let env = [
            ("KUMITE".to_owned(), own_program()?),
            ("FOLDER".to_owned(), folder.display().to_string()),
            ("MOUNT".to_owned(), mount.display().to_string()),
            ("JSON".to_owned(), json.display().to_string()),
        ];
        let command =
            format!("exec \"$KUMITE\" disk \"$FOLDER\" \"$MOUNT\" --delay {delay_ms}ms --json \"$JSON\"");
        let process = Process::start(&command, &env, order)?;
        let mut slow = Slow { process, mount: Mount(mount), json };
        let first = slow.mount.0.join("0");
        slow.process.wait_ready(READY, order.stop, || first.is_file())?;
        Ok(slow)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Gone already, unless its process was killed.
        let _ = kumite_disk::unmount(&self.0);
    }
}

impl Serving for Files {
    fn name(&self) -> &str {
        &self.name
    }

    fn env(&self) -> Vec<(String, String)> {
        let folder = self.slow.as_ref().map_or(&self.folder, |slow| &slow.mount.0);
        vec![(variable(&self.name, "PATH"), folder.display().to_string())]
    }

    fn begin(&mut self) -> Result<(), String> {
        if let Some(slow) = &mut self.slow {
            slow.process.begin();
        }
        Ok(())
    }

    fn cpu(&mut self) -> Duration {
        self.slow.as_mut().map_or(Duration::ZERO, |slow| slow.process.cpu())
    }

    fn end(mut self: Box<Self>) -> Result<BTreeMap<String, f64>, String> {
        let Some(mut slow) = self.slow.take() else { return Ok(BTreeMap::new()) };
        slow.process.runs("before the end")?;
        slow.process.tree.stop(GRACE);
        let unreadable = |what: String| format!("did not say what it did: {what}");
        let text = std::fs::read_to_string(&slow.json).map_err(|error| unreadable(error.to_string()))?;
        let did: DiskResult = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        let mut metrics = BTreeMap::from([("seeks".to_owned(), did.seeks as f64)]);
        metrics.extend(did.late_us.and_then(|late| late.p99).map(|late| ("late_p99_us".to_owned(), late)));
        Ok(metrics)
    }
}
