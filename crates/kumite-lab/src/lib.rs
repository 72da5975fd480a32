//! Spec, plan, execute, estimate, judge.
