//! Content that was purged is nowhere any more.
