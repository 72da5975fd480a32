//! Process trees: start, pin, account, end.
