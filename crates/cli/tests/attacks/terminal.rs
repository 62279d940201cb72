//! Hostile names and texts on the way to a terminal.
