//! The line of a run in `kumite list --runs`.

use kumite_record::{Run, Sitting};

/// A line of `kumite list --runs`, with a line feed: the run's id, experiment and profile, its shard or sittings if it
/// has any, and how it ended.
pub fn run_line(run: &Run) -> String {
    let ended = match (&run.finished, &run.cut_short) {
        (None, _) => "not finished",
        (Some(_), Some(why)) => why,
        (Some(_), None) => "finished",
    };
    let part = match (&run.shard, &run.merged, run.sittings.as_slice()) {
        (Some(shard), ..) => format!(", shard {} of {} on {}", shard.nth, shard.of, shard.node),
        (_, Some(merged), _) => format!(", merged from {} of {} shards", merged.runs.len(), merged.of),
        (None, None, [_, _, ..]) => format!(", {} sittings", run.sittings.len()),
        (None, None, [Sitting { again_of: Some(first), .. }]) => format!(", a sitting of {first}"),
        (None, None, _) => String::new(),
    };
    format!("{}  {} ({}){part}: {ended}\n", run.id, run.experiment, run.profile)
}

#[cfg(test)]
mod tests {
    use kumite_record::{Merged, Shard};

    use super::*;

    #[test]
    fn a_line_has_how_the_run_ended_and_which_part_of_one_it_is() {
        let run = Run {
            id: "1".to_owned(),
            experiment: "fib".to_owned(),
            profile: "quick".to_owned(),
            ..Run::default()
        };
        let ended = Run { finished: "2026-01-01T00:00:00Z".parse().ok(), ..run.clone() };
        let shard = Some(Shard { nth: 2, of: 3, node: "n1".to_owned() });
        let merged = Some(Merged { of: 3, runs: vec!["a".to_owned(), "b".to_owned()], ..Merged::default() });
        let again = Sitting { again_of: Some("0".to_owned()), ..Sitting::default() };
        let all = [
            run.clone(),
            ended.clone(),
            Run { cut_short: Some("interrupted".to_owned()), ..ended.clone() },
            Run { shard, ..run },
            Run { merged, ..ended.clone() },
            Run { sittings: vec![again.clone()], ..ended.clone() },
            Run { sittings: vec![again.clone(), again], ..ended },
        ];
        let lines = [
            "1  fib (quick): not finished\n",
            "1  fib (quick): finished\n",
            "1  fib (quick): interrupted\n",
            "1  fib (quick), shard 2 of 3 on n1: not finished\n",
            "1  fib (quick), merged from 2 of 3 shards: finished\n",
            "1  fib (quick), a sitting of 0: finished\n",
            "1  fib (quick), 2 sittings: finished\n",
        ];
        assert_eq!(all.each_ref().map(run_line), lines);
    }
}
