use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use kumite_record::Cores;

use crate::{Cells, Generator, Load, Shape, Trial};

/// The things that all measurements share.
pub struct Bench<'a> {
    /// This one, to start the server with.
    pub program: PathBuf,
    /// All files go there.
    pub dir: &'a Path,
    /// The server runs on the first of the contender's, generators on the last of the engine's.
    pub cores: Cores,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
    /// Those that are installed.
    pub generators: Vec<Generator>,
    /// Repeats the order of a run.
    pub seed: u64,
}

/// How long a measurement takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Of kumite, wrk and the floors.
    pub rounds: u32,
    /// Of the other peers.
    pub peer_rounds: u32,
    /// Of a load.
    pub seconds: u64,
}

/// The conditions that the generators of a block have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Keep-alive connections.
    pub connections: u32,
    /// When requests are sent.
    pub shape: Shape,
    /// A command under which the generator runs; often empty.
    pub under: &'static str,
    /// If fewer than elsewhere are enough.
    pub most_rounds: u32,
}

impl Point {
    /// With nothing special.
    pub fn new(connections: u32, shape: Shape) -> Point {
        Point { connections, shape, under: "", most_rounds: u32::MAX }
    }
}

impl Bench<'_> {
    /// One trial of each generator at each point in every round, in random order. Who fails is named, and the others go
    /// on. `then` is handed each trial as it ends.
    pub fn rounds<T>(
        &self,
        what: &str,
        points: &[Point],
        effort: Effort,
        takes_part: impl Fn(&Point, &Generator) -> bool,
        then: impl Fn(&Point, Trial) -> Result<T>,
    ) -> Result<Cells<T>> {
        let offers = |point: &Point, generator: &Generator| {
            let Point { connections, shape, .. } = *point;
            let load = Load { url: String::new(), connections, seconds: effort.seconds, shape };
            (generator.command)(&load).is_some() && takes_part(point, generator)
        };
        let who = |point| {
            let all = self.generators.iter().enumerate();
            all.filter(|(_, generator)| offers(point, generator)).map(|(index, _)| index).collect()
        };
        let everywhere: Vec<Vec<usize>> = points.iter().map(who).collect();
        let mut cells = Cells::new(points, self.generators.iter().map(|generator| generator.name).collect());
        let plan = kumite_lab::plan(&everywhere, &BTreeSet::new(), effort.rounds, self.seed);
        for block in plan.rounds.into_iter().flat_map(|round| round.blocks) {
            let point = &points[block.point];
            for index in block.order {
                let generator = &self.generators[index];
                let rounds = if generator.peer { effort.peer_rounds } else { effort.rounds };
                if block.index >= rounds.min(point.most_rounds) {
                    continue;
                }
                let load = (point.connections, point.shape, effort.seconds);
                let outcome = Trial::run(self, generator, load, point.under).and_then(|trial| {
                    eprintln!(
                        "{what}, round {}, {} connections, {}: {:.2} µs/request, {:.0} requests/s",
                        block.index + 1,
                        point.connections,
                        generator.name,
                        trial.cpu_us_per_request(),
                        trial.requests_per_s()
                    );
                    then(point, trial)
                });
                if self.stop.load(Ordering::Relaxed) {
                    bail!("stopped before the end; nothing was written");
                }
                if let Some(failure) = cells.keep(block.point, index, block.index, outcome) {
                    eprintln!("FAILED: {failure}");
                }
            }
        }
        Ok(cells)
    }
}
