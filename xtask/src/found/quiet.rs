//! Whether the machine is quiet enough for a sitting that is to be told of.

use std::time::Duration;

use kumite_host::{Lock, Ours, Watch, cores};

/// The time for which the machine is watched. A stolen hundredth of a CPU is to be told from a counter's grain.
const WATCHED: Duration = Duration::from_secs(10);

/// Why the machine is too busy, if it is: another kumite measures, or time was stolen or other processes ran while it was
/// watched, by the limits at which kumite marks a trial.
pub fn busy() -> Option<String> {
    let mut reasons: Vec<String> =
        Lock::of_machine().err().map(|error| error.to_string()).into_iter().collect();
    let all = cores();
    let cpus: Vec<usize> = all.contender.iter().chain(&all.engine).copied().collect();
    let watch = Watch::begin(&cpus);
    std::thread::sleep(WATCHED);
    let noise = watch.end(&Ours { cpu: Some(Duration::ZERO), waited: None });
    let figure =
        |name: &str| noise.figures.get(name).map_or(String::new(), |value| format!(" ({name} {value})"));
    reasons.extend(noise.marks.iter().map(|mark| {
        let name = match mark {
            kumite_record::Mark::Stolen => "stolen_cores",
            kumite_record::Mark::OtherProcesses => "others_cpu_cores",
            _ => "",
        };
        format!("{}{}", mark.as_str(), figure(name))
    }));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
