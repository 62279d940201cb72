//! Records transcripts of the real clients as fixtures, in place of those that are there.
//!
//! `cargo xtask fixtures` runs it. The fixtures' README says what is in them.

mod rewind;
mod scene;
mod tidy;

use contexture_testkit::clients::Client;

use crate::scene::Scene;

fn main() {
    for client in Client::ALL {
        assert!(client.available(), "{client:?} is not installed: run `cargo xtask clients`");
        Scene::record(client, "session", scene::session);
        Scene::record(client, "compacted", scene::compacted);
        match client {
            Client::ClaudeCode | Client::Codex => {
                Scene::record(client, "branches", scene::branches);
                Scene::record(client, "subagent", scene::subagent);
            }
            Client::Gemini => Scene::record(client, "subagent", scene::subagent),
            Client::Pi => Scene::record(client, "branches", scene::branches),
        }
        if client == Client::Codex {
            Scene::record(client, "compacted-sealed", scene::compacted_sealed);
        }
    }
}
