//! A point of the plan with its typed workload.
//!
//! A parameter becomes a typed workload here and nowhere else: when the experiment is read. Whoever needs a workload
//! later gets this one, by the position of the point.

use std::any::{Any, type_name};

use kumite_record::Point;

use super::{Answer, AnyWorkload, ReadWorkload, Workload};
use crate::parameter::{Parameters, at_point};
use crate::unfit::Unfit;

/// A point of the plan, and who is tried there. Its workload is read here, once, and whoever needs it is given it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The point that is measured so.
    pub point: Point,
    /// Names of contenders, in their order.
    pub contenders: Vec<String>,
    /// The fixed parameters and the point's.
    pub(crate) parameters: Parameters,
    /// Those parameters, typed by the kind.
    pub(crate) workload: AnyWorkload,
}

impl Planned {
    pub(crate) fn read(
        read: ReadWorkload,
        fixed: &Parameters,
        answer: &Answer,
        point: Point,
        contenders: Vec<String>,
    ) -> Result<Planned, Unfit> {
        let parameters = at_point(fixed, &point);
        let workload = read(&parameters, answer)?;
        Ok(Planned { point, contenders, parameters, workload })
    }

    /// Its workload, as the driver of its kind knows it.
    pub(crate) fn typed<W: Workload>(&self) -> &W {
        let workload: &dyn Any = &*self.workload;
        workload.downcast_ref().unwrap_or_else(|| panic!("{} is no {}", self.point, type_name::<W>()))
    }
}
