//! What only the real agents can prove: they run as their users run them, with a model that says what a script says.

mod daemon;
mod first_five_minutes;
mod live;
mod recording;
mod resume;
mod run;
mod stage;
mod terminal;
