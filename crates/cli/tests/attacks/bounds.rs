//! Input of any size and shape: memory stays bounded, and what a limit turned away is told.
