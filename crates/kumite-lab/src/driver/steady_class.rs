//! The class of a series, in the words of the record.

use kumite_record::SteadyClass;
use kumite_stats::Class;

pub(crate) fn steady_class(class: Class) -> SteadyClass {
    match class {
        Class::Flat => SteadyClass::Flat,
        Class::WarmUp => SteadyClass::WarmUp,
        Class::Slowdown => SteadyClass::Slowdown,
        Class::NoSteadyState => SteadyClass::NoSteadyState,
    }
}
