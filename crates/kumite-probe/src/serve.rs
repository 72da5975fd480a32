//! The process that probes. It reads lines, each with the CPUs and the time, and answers each with a line of figures.
//! In between it sleeps.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use kumite_process::pin_thread;
use kumite_record::Probe;

use crate::chase::{Chase, STEPS};
use crate::slice::median;
use crate::{integer_loop, pages, wake_up};

/// Answers the questions on standard input, on standard output, until the input ends. Fails, with a line on standard
/// error, if a question cannot be read or answered.
pub fn probe_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ =
                writeln!(io::stderr(), "error: the process that probes the machine cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let mut chase = Chase::new()?;
    let mut out = io::stdout();
    out.write_all(b"\n")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        let (time, cpus) = asked(&line?).ok_or(io::ErrorKind::InvalidData)?;
        let mut answer = serde_json::to_vec(&probed(&mut chase, time, &cpus)?)?;
        answer.push(b'\n');
        out.write_all(&answer)?;
        out.flush()?;
    }
    Ok(())
}

/// Parses a question, `MICROSECONDS CPU,CPU…`, to the time and the CPUs. `None` if it is not one.
fn asked(line: &str) -> Option<(Duration, Vec<usize>)> {
    let (time, cpus) = line.split_once(' ')?;
    let cpus = cpus.split(',').map(|cpu| cpu.parse().ok()).collect::<Option<_>>()?;
    Some((Duration::from_micros(time.parse().ok()?), cpus))
}

/// The figures by the names of their probes, without those that could not be had. Wake-ups and loads take a third of
/// `time` each, loops and pages a sixth each. Wake-ups are between the first CPU and the last; the others are
/// measured half on the first and half on the last.
fn probed(chase: &mut Chase, time: Duration, cpus: &[usize]) -> io::Result<BTreeMap<String, f64>> {
    let (Some(&first), Some(&last)) = (cpus.first(), cpus.last()) else { return Ok(BTreeMap::new()) };
    let (third, sixth) = (time / 3, time / 6);
    let mut found = BTreeMap::new();
    if let Some(took) = wake_up::wake_up(first, last, third) {
        found.insert(Probe::WakeUp.name().to_owned(), took.as_nanos() as f64 / 1e3);
    }
    let ends: &[usize] = if first == last { &[first] } else { &[first, last] };
    let share = ends.len() as u32;
    let (mut loops, mut loads, mut fresh) = (0.0, Vec::new(), Vec::new());
    for &cpu in ends {
        // A CPU may be taken away from this process meanwhile, as by a change of its cpuset.
        if pin_thread(&[cpu]).is_err() {
            return Ok(found);
        }
        loops += integer_loop::ns(sixth / share) / f64::from(share);
        loads.extend(chase.portions(third / share));
        fresh.extend(pages::touched(sixth / share)?);
    }
    found.insert(Probe::Loop.name().to_owned(), loops);
    let load = median(loads).map(|portion| portion.as_nanos() as f64 / f64::from(STEPS));
    found.extend(load.map(|ns| (Probe::Chase.name().to_owned(), ns)));
    found.extend(median(fresh).map(|page| (Probe::Page.name().to_owned(), page.as_nanos() as f64 / 1e3)));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use kumite_process::available_cores;

    use super::*;

    #[test]
    fn a_question_is_a_time_and_cpus() {
        assert_eq!(asked("1500 0,3"), Some((Duration::from_micros(1500), vec![0, 3])));
        for wrong in ["", "1500", "x 0", "1500 ", "1500 0,", "1500 -1"] {
            assert_eq!(asked(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_probe_has_a_figure_on_one_cpu_and_on_all() {
        let all = available_cores();
        for cpus in [all[..1].to_vec(), all] {
            let probed = std::thread::spawn(move || {
                probed(&mut Chase::new().unwrap(), Duration::from_millis(6), &cpus).unwrap()
            });
            let found = probed.join().unwrap();
            for probe in Probe::ALL {
                assert!(probe.of(&found).is_some_and(|figure| figure > 0.0), "{probe:?}: {found:?}");
            }
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_has_no_figures() {
        let probed = std::thread::spawn(|| {
            probed(&mut Chase::new().unwrap(), Duration::from_millis(6), &[1023]).unwrap()
        });
        assert_eq!(probed.join().unwrap(), BTreeMap::new());
    }
}
