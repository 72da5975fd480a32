//! Files to be read, on the disk of the system or on one that is slow.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kumite_record::{DiskResult, Metric};
use schemars::JsonSchema;
use serde::Deserialize;

use super::figure::Figure;
use super::process::Process;
use super::registration::{Registration, schema_of};
use super::stub::{counts, late, own_program, what_it_did};
use super::{Counts, Service, Serving, StartOrder, Variables};
use crate::error::Error;
use crate::halt::Halt;
use crate::parameter::Parameters;

const READY: Duration = Duration::from_secs(10);

pub(super) static KIND: Registration = Registration {
    name: "files",
    schema: schema_of::<Files>,
    read: |given| {
        let files: Files = given.keys()?;
        given.check_figure("files", &files.files)?;
        given.check_figure("size_bytes", &files.size_bytes)?;
        given.check_figure("delay_ms", &files.delay_ms)?;
        Ok(Arc::new(files))
    },
};

/// Files to be read, in a folder that may be on a slow disk.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Files {
    /// The number of files: a number or `"$parameter"`; 1 if it is not given.
    #[serde(default = "Figure::one")]
    files: Figure,
    /// The length of each file: a number of bytes or `"$parameter"`.
    size_bytes: Figure,
    /// The delay of each read that does not go on where the last one ended; one waits at a time. A number of
    /// milliseconds, or `"$parameter"`.
    #[serde(default = "Figure::zero")]
    delay_ms: Figure,
}

struct RunningFiles {
    folder: PathBuf,
    /// The slow disk that the files are read through. None if reads have no delay.
    slow: Option<Slow>,
}

/// The process of the file system that delays reads.
struct Slow {
    process: Process,
    /// The mount, which is dropped after the process.
    mount: Mount,
    json: PathBuf,
}

struct Mount(PathBuf);

impl Service for Files {
    fn metrics(&self) -> Vec<Metric> {
        vec![Metric::count("seeks", "reads that did not go on where the last one ended."), late()]
    }

    fn unavailable(&self, parameters: &Parameters) -> Option<String> {
        match self.delay_ms.value(parameters) {
            Ok(delay) if delay > 0.0 => kumite_disk::available().err().map(|why| why.to_string()),
            _ => None,
        }
    }

    fn start(&self, parameters: &Parameters, order: &StartOrder) -> Result<Box<dyn Serving>, Halt> {
        let count = self.files.value(parameters)? as usize;
        let size_bytes = self.size_bytes.value(parameters)? as usize;
        let delay_ms = self.delay_ms.value(parameters)?;
        let folder = order.folder.join("files");
        std::fs::create_dir(&folder).map_err(Error::cannot("make", &folder))?;
        kumite_disk::write_files(&folder, count, size_bytes).map_err(Error::Disk)?;
        let slow = if delay_ms > 0.0 { Some(Slow::start(&folder, delay_ms, order)?) } else { None };
        Ok(Box::new(RunningFiles { folder, slow }))
    }
}

impl Slow {
    fn start(folder: &Path, delay_ms: f64, order: &StartOrder) -> Result<Slow, Halt> {
        let mount = order.folder.join("slow");
        std::fs::create_dir(&mount).map_err(Error::cannot("make", &mount))?;
        let json = order.folder.join("disk.json");
        let env = [
            ("KUMITE".to_owned(), own_program()?),
            ("FOLDER".to_owned(), folder.display().to_string()),
            ("MOUNT".to_owned(), mount.display().to_string()),
            ("JSON".to_owned(), json.display().to_string()),
        ];
        let command =
            format!("exec \"$KUMITE\" disk \"$FOLDER\" \"$MOUNT\" --delay {delay_ms}ms --json \"$JSON\"");
        let process = Process::start(&command, &order.folder, &env, order)?;
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

impl Serving for RunningFiles {
    fn variables(&self) -> Variables {
        let folder = self.slow.as_ref().map_or(&self.folder, |slow| &slow.mount.0);
        vec![("PATH".to_owned(), folder.display().to_string())]
    }

    fn process(&mut self) -> Option<&mut Process> {
        self.slow.as_mut().map(|slow| &mut slow.process)
    }

    fn end(self: Box<Self>) -> Result<Counts, Error> {
        let Some(mut slow) = self.slow else { return Ok(Counts::new()) };
        slow.process.runs("before the end")?;
        slow.process.stop();
        let did: DiskResult = what_it_did(&slow.json)?;
        Ok(counts(("seeks", did.seeks), did.late_us))
    }
}
