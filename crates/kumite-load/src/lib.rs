//! The HTTP load engine: schedule, transport, recorder.
