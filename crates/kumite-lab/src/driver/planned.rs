//! The points of the plan with their typed workloads.
//!
//! A parameter becomes part of a typed workload here and nowhere else: when the experiment is read. Later code gets
//! that workload by the position of the point.

use std::any::{Any, type_name};

use kumite_record::{Labels, Point};

use super::{Answer, AnyWorkload, ReadWorkload, Scenario, Workload};
use crate::parameter::{Parameters, at_point};
use crate::unfit::Unfit;

/// A point of the plan with its contenders and its workload. The workload is read once, when this is made.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The values of the axes.
    pub point: Point,
    /// The names of the contenders that are tried at the point, in their order.
    pub contenders: Vec<String>,
    /// The fixed parameters with those of the point.
    pub(crate) parameters: Parameters,
    /// The workload that the kind has read from these parameters.
    pub(crate) workload: AnyWorkload,
}

impl Planned {
    pub(crate) fn read(
        read: ReadWorkload,
        (fixed, labels): (&Parameters, &Labels),
        (answer, scenario): (&Answer, &Scenario),
        point: Point,
        contenders: Vec<String>,
    ) -> Result<Planned, Unfit> {
        let parameters = at_point(fixed, &point, labels);
        let workload = read(&parameters, answer, scenario)?;
        Ok(Planned { point, contenders, parameters, workload })
    }

    /// The workload in the type that the driver of its kind knows. It panics if the type is another.
    pub(crate) fn typed<W: Workload>(&self) -> &W {
        let workload: &dyn Any = &*self.workload;
        workload.downcast_ref().unwrap_or_else(|| panic!("{} is no {}", self.point, type_name::<W>()))
    }
}
