//! The pipeline from items to what a model reads.

mod cases;
mod laws;
mod sample;
