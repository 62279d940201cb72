//! Targets as people write them: `AUDIENCE`, `RENDERING` or `AUDIENCE:RENDERING`.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Rendering, TargetSpec};
use crate::{
    mistake::meant,
    nearest::nearest,
    standard::{Audience, InjectionPoint},
};

/// Says that a text names no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownTarget {
    /// It is one word that is not known.
    #[error("{word:?} is neither an audience ({}) nor a rendering ({}){}", audiences(), renderings(), meant(*nearest))]
    Word {
        /// The word.
        word: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// What stands before the colon is not known.
    #[error("{word:?} is not an audience ({}){}", audiences(), meant(*nearest))]
    Audience {
        /// The word.
        word: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// What stands after the colon is not known.
    #[error("{word:?} is not a rendering ({}){}", renderings(), meant(*nearest))]
    Rendering {
        /// The word.
        word: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
}

impl FromStr for TargetSpec {
    type Err = UnknownTarget;

    /// Reads a target. An audience alone gets a prompt; a rendering alone is for the model.
    fn from_str(text: &str) -> Result<Self, UnknownTarget> {
        let audience_words = || Audience::ALL.iter().map(|audience| audience.as_str());
        let rendering_words = || Rendering::ALL.iter().map(|rendering| rendering.as_str());
        if let Some((audience, rendering)) = text.split_once(':') {
            let audience = audience.parse().map_err(|_| UnknownTarget::Audience {
                word: audience.to_owned(),
                nearest: nearest(audience, audience_words()),
            })?;
            let rendering = rendering.parse().map_err(|_| UnknownTarget::Rendering {
                word: rendering.to_owned(),
                nearest: nearest(rendering, rendering_words()),
            })?;
            return Ok(Self { audience, rendering });
        }
        match (text.parse(), text.parse()) {
            (Ok(audience), _) => Ok(Self { audience, rendering: Rendering::Prompt }),
            (Err(_), Ok(rendering)) => Ok(Self { audience: Audience::Model, rendering }),
            (Err(_), Err(_)) => {
                let nearest = nearest(text, audience_words().chain(rendering_words()));
                Err(UnknownTarget::Word { word: text.to_owned(), nearest })
            }
        }
    }
}

impl TargetSpec {
    /// Returns where what is assembled for the target usually becomes visible.
    pub const fn injection_point(self) -> InjectionPoint {
        match (self.audience, self.rendering) {
            (Audience::Model, Rendering::Prompt) => InjectionPoint::UserMessageAppendix,
            (Audience::Model, _) => InjectionPoint::MessageHistory,
            (Audience::Tool, _) => InjectionPoint::ToolArgument,
            (Audience::Runtime, _) => InjectionPoint::RuntimeMetadata,
            (Audience::Ui | Audience::User, _) => InjectionPoint::UiPanel,
            (Audience::Reviewer | Audience::EvidenceExport, _) => InjectionPoint::ReviewExport,
            (Audience::PeerAgent, _) => InjectionPoint::PeerAgentMessage,
        }
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { audience, rendering } = self;
        f.pad(&format!("{audience}:{rendering}"))
    }
}

impl Serialize for TargetSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for TargetSpec {
    fn schema_name() -> Cow<'static, str> {
        "TargetSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Who is to see an assembly, and in which form.",
            "type": "string",
            "pattern": "^[a-z_]+:[a-z-]+$",
        })
    }
}

fn audiences() -> String {
    Audience::ALL.iter().map(|audience| audience.as_str()).collect::<Vec<_>>().join(", ")
}

fn renderings() -> String {
    Rendering::ALL.iter().map(|rendering| rendering.as_str()).collect::<Vec<_>>().join(", ")
}

impl<'de> Deserialize<'de> for TargetSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_an_audience_a_rendering_or_both() {
        let read = |text: &str| text.parse::<TargetSpec>().map(|target| target.to_string());
        assert_eq!(read("reviewer").unwrap(), "reviewer:prompt");
        assert_eq!(read("openai-chat").unwrap(), "model:openai-chat");
        assert_eq!(read("peer_agent:anthropic").unwrap(), "peer_agent:anthropic");
    }

    #[test]
    fn a_target_says_where_it_usually_is_given_something() {
        let point = |text: &str| text.parse::<TargetSpec>().unwrap().injection_point();
        assert_eq!(point("anthropic"), InjectionPoint::MessageHistory);
        assert_eq!(point("codex"), InjectionPoint::MessageHistory);
        assert_eq!(point("prompt"), InjectionPoint::UserMessageAppendix);
        assert_eq!(point("tool"), InjectionPoint::ToolArgument);
        assert_eq!(point("reviewer:anthropic"), InjectionPoint::ReviewExport);
        assert_eq!(point("peer_agent"), InjectionPoint::PeerAgentMessage);
    }

    #[test]
    fn every_target_is_read_from_what_it_is_written_as() {
        for &audience in Audience::ALL {
            for &rendering in Rendering::ALL {
                let target = TargetSpec { audience, rendering };
                assert_eq!(target.to_string().parse(), Ok(target));
            }
        }
    }

    #[test]
    fn what_was_meant_is_asked() {
        let refused = |text: &str| text.parse::<TargetSpec>().unwrap_err().to_string();
        assert_eq!(
            refused("antropic"),
            "\"antropic\" is neither an audience (model, tool, runtime, ui, user, reviewer, peer_agent, \
             evidence_export) nor a rendering (prompt, anthropic, openai-chat, openai-responses, claude-code, codex, \
             gemini, pi); did you mean `anthropic`?"
        );
        assert_eq!(
            refused("modle:prompt"),
            "\"modle\" is not an audience (model, tool, runtime, ui, user, reviewer, peer_agent, evidence_export); did \
             you mean `model`?"
        );
        assert_eq!(
            refused("model:"),
            "\"\" is not a rendering (prompt, anthropic, openai-chat, openai-responses, claude-code, codex, gemini, \
             pi)"
        );
    }
}
