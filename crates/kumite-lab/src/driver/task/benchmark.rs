//! Trials of benchmarks, which measure by themselves.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_process::{Spawn, run};

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
    /// Runs a benchmark once, to its end, and reads the figures that it wrote. An error if the benchmark fails, takes
    /// longer than a job may (`timeout_s`), or writes no figures that can be used.
    pub fn benchmark(
        &self,
        contender: &Ready,
        at: usize,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Measured, Halt> {
        let measured = self.measure_benchmark(contender, at, log, stop);
        trim(log);
        measured.map_err(|halt| Halt::unless_stopped(halt, stop))
    }

    fn measure_benchmark(
        &self,
        contender: &Ready,
        at: usize,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Measured, Halt> {
        let planned = &self.bench.conditions.planned[at];
        let workload = planned.typed::<TaskWorkload>();
        let given = workload.cores().given(&contender.among(self.bench.cores))?;
        let mut services = self.bench.services.start(&planned.parameters, log, stop)?;
        let scratch = workload.scratch(&self.scratch)?;
        let mut env = contender.env.clone();
        env.extend(services.env());
        env.push(("SCRATCH".to_owned(), scratch.path().display().to_string()));
        env.extend(as_environment(&planned.parameters));
        services.begin()?;
        let (command, dir) = (contender.run.as_str(), contender.folder.as_path());
        let spawn = Spawn { command, dir, env: &env, keeps: None, cores: &given.cores, log, group: None };
        let done = run(&spawn, workload.timeout, stop)?;
        if !done.status.success() {
            let (how, log) = (how_it_ended(done.status), last_lines(log));
            return Err(Halt::fault(format!("it {how}; its log: {log}")));
        }
        let sample = jmh::read(&scratch.path().join(jmh::FILE))?;
        let load_ms = Some(done.ended.wall.as_secs_f64() * 1e3);
        let mut measured = Measured { sample, load_ms, ..Measured::answered(None) }.with(services.end()?);
        self.bench.conditions.derived.add(&mut measured.sample.metrics, &planned.parameters);
        Ok(measured)
    }
}
