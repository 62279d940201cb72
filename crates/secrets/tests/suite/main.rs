//! What the detector finds and what it leaves alone.

mod families;
mod generate;
