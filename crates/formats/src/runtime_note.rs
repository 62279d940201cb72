//! What runtimes tell their models of themselves: what they may do, which tools there are, where they work.
//!
//! Each says it anew when it goes on with a session, in its own way, and what another one has said of that is wrong there.

use contexture_core::EntryPart;

/// What such texts begin with.
const OPENINGS: [&str; 28] = [
    // Codex.
    "<environment_context>",
    "<environments_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<recommended_plugins>",
    "<tools>",
    "<model_switch>",
    "<model_instructions>",
    "<persistent_mode>",
    "<collaboration_mode>",
    "<multi_agent_role>",
    "<multi_agent_mode>",
    "<realtime_conversation>",
    "<git_attribution>",
    "<personality_spec>",
    "<token_budget>",
    "<context_window_guidance>",
    "<content_filter_guidance>",
    "<command_sessions>",
    "<citation_entries>",
    "<current_time_iso>",
    "<current_time_reminder>",
    "<current_time_unavailable>",
    "<image_resize_notice>",
    "<codex_internal_context",
    // Gemini CLI.
    "<session_context>",
];

/// Tells whether a text is one that a runtime tells its model of itself.
///
/// It is for whoever knows that nobody typed the text to ask.
pub(crate) fn is_runtime_note(part: &EntryPart) -> bool {
    let EntryPart::Text { text } = part else { return false };
    let text = text.trim_start();
    OPENINGS.iter().any(|opening| text.starts_with(opening))
}
