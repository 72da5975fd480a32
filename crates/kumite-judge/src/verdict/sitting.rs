//! The sittings of a run, in groups that count as one.

use kumite_record::{Run, Sitting};

/// The sittings of a run, which can be put into groups that count as one.
#[derive(Clone, Copy)]
pub(super) struct Sittings<'a> {
    pub all: &'a [Sitting],
}

/// Sittings that count as one.
pub(super) struct Group<'a> {
    sittings: &'a [Sitting],
    pub which: Vec<usize>,
}

impl<'a> Sittings<'a> {
    /// The sittings of a run; `None` if the run is not judged by sittings.
    pub fn of(run: &'a Run) -> Option<Sittings<'a>> {
        (!run.sittings.is_empty()).then_some(Sittings { all: &run.sittings })
    }

    pub fn groups(self) -> Vec<Group<'a>> {
        let groups = kumite_record::apart(self.all);
        groups.into_iter().map(|which| Group { sittings: self.all, which }).collect()
    }
}

impl Group<'_> {
    pub fn has(&self, round: u32) -> bool {
        self.which.iter().any(|&nth| self.sittings[nth].has(round))
    }
}
