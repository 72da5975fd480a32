//! Trials of contenders that measure by themselves.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_process::{Spawn, run};
use kumite_record::Point;

use super::driver::TaskDriver;
use super::jmh;
use super::workload::TaskWorkload;
use crate::contender::Ready;
use crate::driver::Measured;
use crate::driver::Workload;
use crate::driver::log::{last_lines, trim};
use crate::halt::Halt;
use crate::parameter::as_environment;
use kumite_process::how_it_ended;

impl TaskDriver<'_> {
    /// Runs it to its end, once, and reads what it wrote.
    pub fn benchmark(
        &self,
        contender: &Ready,
        point: &Point,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Measured, Halt> {
        let measured = self.measure_benchmark(contender, point, log, stop);
        trim(log);
        measured.map_err(|halt| Halt::of(halt, stop))
    }

    fn measure_benchmark(
        &self,
        contender: &Ready,
        point: &Point,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Measured, Halt> {
        let parameters = self.conditions.parameters(point);
        let workload = TaskWorkload::new(&parameters)?;
        let given = workload.cores().given(self.cores)?;
        let mut services = self.services.start(&parameters, log, stop)?;
        let scratch = workload.scratch(&self.scratch)?;
        let mut env = contender.env.clone();
        env.extend(services.env());
        env.push(("SCRATCH".to_owned(), scratch.path().display().to_string()));
        env.extend(as_environment(&parameters));
        services.begin()?;
        let (command, dir) = (contender.run.as_str(), contender.folder.as_path());
        let spawn = Spawn { command, dir, env: &env, keeps: None, cores: &given.cores, log, group: None };
        let done = run(&spawn, workload.timeout, stop).map_err(|error| error.to_string())?;
        if !done.status.success() {
            return Err(format!("it {}; its log: {}", how_it_ended(done.status), last_lines(log)).into());
        }
        let sample = jmh::read(&scratch.path().join(jmh::FILE))?;
        let load_ms = Some(done.ended.wall.as_secs_f64() * 1e3);
        let mut measured = Measured { sample, load_ms, ..Measured::answered(None) }.with(services.end()?);
        self.conditions.derived.add(&mut measured.sample.metrics, &parameters);
        Ok(measured)
    }
}
