//! What the detector finds and what it leaves alone.

mod families;
mod generate;
mod oracles;
mod page;
mod properties;
mod quiet;
