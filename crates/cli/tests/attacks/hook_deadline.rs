//! Events of agents that would hold a hook up, or have it take in what is no session.
