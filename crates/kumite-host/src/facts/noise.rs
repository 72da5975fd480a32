//! The finding on noise from outside: the kinds that kumite can notice on this machine.

use kumite_record::Finding;

use crate::noise::noticed;
use crate::system::System;

pub(super) fn finding(system: &System, available: &[usize]) -> Finding {
    let Some(sources) = noticed(system, available) else {
        return Finding::unknown("noise", "noticed", "the kernel does not count the time of each CPU");
    };
    let those = |which| {
        let names: Vec<&str> = sources.iter().filter(|(_, is)| *is == which).map(|(name, _)| *name).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    let found = format!("in each trial: {}; not to be seen here: {}", those(true), those(false));
    Finding::ok("noise", "noticed", found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_record::Fitness;

    #[test]
    fn noise_that_can_be_seen_and_that_cannot_is_named() {
        let stat = ("proc/stat", "cpu0 1 2 3 4 5 6 7 8 0 0\nctxt 5\n");
        let heat = ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n");
        let found = |files: &[(&str, &str)]| finding(&System::with(files), &[0]);
        assert_eq!(
            found(&[stat, heat]).found,
            "in each trial: clock jumps, stolen time, other processes (at least), heat; not to be seen here: CPU limits of \
             cgroups, changes of frequency, stops of kumite"
        );
        assert_eq!(found(&[heat]).state, Fitness::Unknown);
    }
}
