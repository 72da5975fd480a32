//! `kumite disk`: a disk whose delay is known.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use kumite_disk::{Disk, Error, Report};
use kumite_record::{DiskResult, Lateness, SCHEMA};

use crate::closing::Closing;
use crate::exit::Failure;
use crate::{duration, output, stop};

#[derive(Parser)]
#[command(after_help = "\
A read waits if it is a seek: if it does not begin where the last read of the same open file ended. The first read of an
open file is one; what is read on from there is not, so small buffers cost no more delays than large ones. Seeks are
served one at a time, as by a disk with one head: N at once are done after N delays. Nothing else waits, and nothing is
cached. (A reader by io_uring waits within the submission, unless it asks with IOSQE_ASYNC.)
SIGINT, SIGTERM or an unmount ends it, and leaves no mount, also where files in it are open: reading them fails then. If
it is killed by SIGKILL, a dead mount is left: `umount -l MOUNT` (or `fusermount3 -u MOUNT`) takes it away.")]
pub struct Args {
    /// Folder with the files, which must not change meanwhile; subfolders and links are not shown
    folder: PathBuf,
    /// Mount point: an empty folder
    mount: PathBuf,
    /// Time of a seek, e.g. 2ms; at most 10s
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse)]
    delay: Duration,
    #[command(flatten)]
    closing: Closing,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    args.closing.check()?;
    let stop = stop::flag()?;
    let disk = Disk::mount(&args.folder, &args.mount, args.delay).map_err(failure)?;
    let mount_point = disk.mount_point().display().to_string();
    args.closing.open(&format!("mounted at {mount_point}"))?;
    let report = disk.serve(&stop).map_err(failure)?;
    let result = result(&report, mount_point, args.delay);
    args.closing.close(&result, &kumite_report::disk_line(&result))
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Fuse(_) | Error::Unmount { .. } | Error::Write { .. } | Error::System(_) => {
            Failure::Incomplete(error.to_string())
        }
        _ => Failure::Usage(error.to_string()),
    }
}

fn result(report: &Report, mount_point: String, delay: Duration) -> DiskResult {
    DiskResult {
        schema: SCHEMA,
        command: output::command_line(),
        mount_point,
        delay_us: delay.as_secs_f64() * 1e6,
        seconds: report.duration.as_secs_f64(),
        opens: report.opens,
        reads: report.reads,
        seeks: report.seeks,
        bytes: report.bytes,
        real_time: report.real_time,
        late_us: Lateness::of(&report.lateness),
    }
}
