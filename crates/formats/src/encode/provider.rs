//! Whose models are meant, for formats that name a provider beside each model.

use contexture_core::SealScheme;

/// Who serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelProvider {
    Anthropic,
    Google,
    Openai,
}

impl ModelProvider {
    /// Guesses the provider by the name of the model.
    pub(super) fn of(model: &str) -> Option<Self> {
        let name = model.rsplit('/').next().unwrap_or(model);
        let is = |openings: &[&str]| openings.iter().any(|opening| name.starts_with(opening));
        if is(&["claude"]) {
            Some(Self::Anthropic)
        } else if is(&["gemini"]) {
            Some(Self::Google)
        } else if is(&["gpt", "o1", "o3", "o4", "codex", "chatgpt"]) {
            Some(Self::Openai)
        } else {
            None
        }
    }

    /// Returns the name that programs call it by.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::Openai => "openai",
        }
    }

    /// Tells whether it can open a seal.
    pub(super) const fn opens(self, scheme: SealScheme) -> bool {
        match scheme {
            SealScheme::AnthropicSignature | SealScheme::AnthropicRedacted => matches!(self, Self::Anthropic),
            SealScheme::OpenaiEncrypted => matches!(self, Self::Openai),
            SealScheme::GeminiSignature => matches!(self, Self::Google),
        }
    }
}
