//! The words of the standard: every vocabulary that it lists.
//!
//! The standard leaves most of them open; here they are closed, and what has no word of its own is `custom` where the
//! vocabulary has that word.

use contexture_core::vocabulary;

vocabulary! {
    /// What an envelope is a snapshot for.
    ContextScope {
        /// A turn.
        Turn = "turn",
        /// A task.
        Task = "task",
        /// A session.
        Session = "session",
        /// A call of a tool.
        ToolInvocation = "tool_invocation",
        /// A review.
        Review = "review",
        /// A handoff to another agent.
        Handoff = "handoff",
        /// Something else, which the metadata names.
        Custom = "custom",
    }
}

vocabulary! {
    /// How far an envelope has come.
    Lifecycle {
        /// Being made.
        Draft = "draft",
        /// Gathered.
        Available = "available",
        /// Chosen from.
        Selected = "selected",
        /// Put in order.
        Assembled = "assembled",
        /// Made visible.
        Injected = "injected",
        /// Replaced by something shorter.
        Compacted = "compacted",
        /// Stripped of what may not be seen.
        Redacted = "redacted",
        /// No longer good.
        Expired = "expired",
        /// Kept for the record.
        Archived = "archived",
    }
}

vocabulary! {
    /// What an item is.
    ContextKind {
        /// What a user said.
        UserMessage = "user_message",
        /// Instructions of the system.
        SystemPrompt = "system_prompt",
        /// Instructions of a developer.
        DeveloperInstruction = "developer_instruction",
        /// Earlier messages of the session.
        SessionHistory = "session_history",
        /// A summary of a thread.
        ThreadSummary = "thread_summary",
        /// Notes for the work at hand.
        WorkingMemory = "working_memory",
        /// Notes that outlive the work.
        DurableMemory = "durable_memory",
        /// A piece of curated knowledge.
        KnowledgePackItem = "knowledge_pack_item",
        /// A part of a document.
        DocumentExcerpt = "document_excerpt",
        /// A part of a file.
        FileExcerpt = "file_excerpt",
        /// A pointer to an artifact.
        ArtifactRef = "artifact_ref",
        /// What a tool answered.
        ToolResult = "tool_result",
        /// What a browser shows.
        BrowserState = "browser_state",
        /// What the runtime is doing.
        RuntimeState = "runtime_state",
        /// What a team shares.
        TeamMemory = "team_memory",
        /// A rule that applies.
        PolicyNote = "policy_note",
        /// Something from outside.
        ExternalResource = "external_resource",
        /// A note of a person.
        ManualNote = "manual_note",
        /// A summary that a program made.
        ComputedSummary = "computed_summary",
        /// What another agent said.
        PeerAgentMessage = "peer_agent_message",
        /// What a search found.
        RetrievalResult = "retrieval_result",
        /// Something else, which the metadata names.
        Custom = "custom",
    }
}

vocabulary! {
    /// How an item carries its content.
    ContentMode {
        /// In the item.
        Inline = "inline",
        /// Elsewhere.
        Ref = "ref",
        /// As a summary.
        Summary = "summary",
        /// As a resource in the item.
        EmbeddedResource = "embedded_resource",
        /// As a link to a resource.
        ResourceLink = "resource_link",
        /// As an artifact.
        ArtifactRef = "artifact_ref",
        /// As a result of a tool.
        ToolResultRef = "tool_result_ref",
        /// In a way that only its maker reads.
        Opaque = "opaque",
    }
}

vocabulary! {
    /// Who may see something.
    Audience {
        /// The model.
        Model = "model",
        /// A tool.
        Tool = "tool",
        /// The runtime.
        Runtime = "runtime",
        /// The user interface.
        Ui = "ui",
        /// The user.
        User = "user",
        /// A reviewer.
        Reviewer = "reviewer",
        /// Another agent.
        PeerAgent = "peer_agent",
        /// An export of evidence.
        EvidenceExport = "evidence_export",
    }
}

vocabulary! {
    /// What a surface was gathered for.
    SurfaceKind {
        /// A turn.
        TurnSurface = "turn_surface",
        /// A task.
        TaskSurface = "task_surface",
        /// A session.
        SessionSurface = "session_surface",
        /// A tool.
        ToolSurface = "tool_surface",
        /// A review.
        ReviewSurface = "review_surface",
        /// A handoff to another agent.
        HandoffSurface = "handoff_surface",
        /// Something else, which the metadata names.
        Custom = "custom",
    }
}

vocabulary! {
    /// How a selector points into a source.
    SelectorKind {
        /// By the words.
        TextQuote = "text_quote",
        /// By characters.
        TextPosition = "text_position",
        /// By bytes.
        ByteRange = "byte_range",
        /// By lines.
        LineRange = "line_range",
        /// By a JSON pointer.
        JsonPointer = "json_pointer",
        /// By a CSS selector.
        CssSelector = "css_selector",
        /// By an XPath.
        Xpath = "xpath",
        /// By a region of a page.
        PageRegion = "page_region",
        /// By a span of time.
        MediaTimeRange = "media_time_range",
        /// By a part of an artifact.
        ArtifactPart = "artifact_part",
        /// By a part of a message.
        MessagePart = "message_part",
        /// In another way, which the selector names.
        Custom = "custom",
    }
}

vocabulary! {
    /// What spoke for or against an item.
    RankingSignal {
        /// It answers the question.
        Relevance = "relevance",
        /// It is new.
        Recency = "recency",
        /// It comes from a good source.
        Authority = "authority",
        /// The user pinned it.
        UserPin = "user_pin",
        /// A policy allows it.
        PolicyAllow = "policy_allow",
        /// It is still true.
        Freshness = "freshness",
        /// It covers what is asked.
        Coverage = "coverage",
        /// It says what others do not.
        DedupeScore = "dedupe_score",
        /// It takes so many tokens.
        TokenCost = "token_cost",
        /// It is sensitive.
        Sensitivity = "sensitivity",
        /// A tool can see it.
        ToolVisibility = "tool_visibility",
        /// The runtime needs it.
        RuntimeNeed = "runtime_need",
    }
}

vocabulary! {
    /// Why an item was not selected.
    OmissionReason {
        /// The budget was spent.
        BudgetLimit = "budget_limit",
        /// It matters too little.
        LowRelevance = "low_relevance",
        /// It is there already.
        Duplicate = "duplicate",
        /// It is too old.
        Stale = "stale",
        /// A policy forbids it.
        PolicyBlocked = "policy_blocked",
        /// Nobody allowed it.
        PermissionMissing = "permission_missing",
        /// The target cannot take such content.
        UnsupportedMedia = "unsupported_media",
        /// It is too large.
        TooLarge = "too_large",
        /// It is sensitive.
        Sensitive = "sensitive",
        /// A summary stands for it.
        SupersededBySummary = "superseded_by_summary",
        /// The target may not see it.
        NotVisibleToTarget = "not_visible_to_target",
        /// Something else, which the record names.
        Custom = "custom",
    }
}

vocabulary! {
    /// What happens to what does not fit.
    OverflowStrategy {
        /// Nothing is assembled.
        Reject = "reject",
        /// The end is cut off.
        TruncateTail = "truncate_tail",
        /// The middle is cut out.
        TruncateMiddle = "truncate_middle",
        /// The oldest is summed up.
        SummarizeOldest = "summarize_oldest",
        /// What matters least is summed up.
        SummarizeLowPriority = "summarize_low_priority",
        /// It can be looked up later.
        DeferToRetrieval = "defer_to_retrieval",
        /// Somebody is asked.
        AskForChoice = "ask_for_choice",
        /// A policy stops it.
        PolicyBlock = "policy_block",
        /// Something else, which the metadata names.
        Custom = "custom",
    }
}

vocabulary! {
    /// Where context became visible.
    InjectionPoint {
        /// The prompt of the system.
        SystemPrompt = "system_prompt",
        /// The prompt of the developer.
        DeveloperPrompt = "developer_prompt",
        /// The messages.
        MessageHistory = "message_history",
        /// The end of the message of the user.
        UserMessageAppendix = "user_message_appendix",
        /// An argument of a tool.
        ToolArgument = "tool_argument",
        /// A resource that a tool sees.
        ToolVisibleResource = "tool_visible_resource",
        /// Metadata of the runtime.
        RuntimeMetadata = "runtime_metadata",
        /// A panel of the user interface.
        UiPanel = "ui_panel",
        /// An export for a review.
        ReviewExport = "review_export",
        /// A message to another agent.
        PeerAgentMessage = "peer_agent_message",
        /// The input of an artifact.
        ArtifactInput = "artifact_input",
        /// Somewhere else, which the metadata names.
        Custom = "custom",
    }
}

vocabulary! {
    /// How a compaction was made.
    CompactionMethod {
        /// Sentences were taken over.
        ExtractiveSummary = "extractive_summary",
        /// It was said in other words.
        AbstractiveSummary = "abstractive_summary",
        /// Facts were put into fields.
        StructuredDigest = "structured_digest",
        /// An earlier summary was carried on.
        RollingSummary = "rolling_summary",
        /// A memory was changed.
        SemanticMemoryUpdate = "semantic_memory_update",
        /// A person wrote it.
        HumanCuratedSummary = "human_curated_summary",
        /// The provider of the model did it.
        ProviderContextEditing = "provider_context_editing",
        /// In another way, which the metadata names.
        Custom = "custom",
    }
}

vocabulary! {
    /// What caused a compaction.
    CompactionTrigger {
        /// Somebody asked for it.
        Manual = "manual",
        /// Tokens ran short.
        TokenPressure = "token_pressure",
        /// The session became long.
        SessionLength = "session_length",
        /// A task ended.
        TaskBoundary = "task_boundary",
        /// Another agent takes over.
        Handoff = "handoff",
        /// A rule of retention.
        Retention = "retention",
        /// A rule of privacy.
        Privacy = "privacy",
        /// The provider of the model.
        ProviderContextEditing = "provider_context_editing",
        /// Something else, which the metadata names.
        Custom = "custom",
    }
}

vocabulary! {
    /// How much it matters that something is missing.
    Severity {
        /// Good to know.
        Info = "info",
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// Nothing goes on without it.
        Blocking = "blocking",
    }
}

vocabulary! {
    /// What became of something that is missing.
    MissingStatus {
        /// Nobody was asked.
        Open = "open",
        /// Somebody was asked.
        Requested = "requested",
        /// An answer is awaited.
        Waiting = "waiting",
        /// It is there.
        Resolved = "resolved",
        /// It was refused.
        Declined = "declined",
        /// It cannot be had now.
        Blocked = "blocked",
        /// It is no longer needed.
        Expired = "expired",
    }
}

vocabulary! {
    /// What was done to what may not be seen.
    RedactionState {
        /// Nothing.
        None = "none",
        /// It was masked.
        Masked = "masked",
        /// It was taken out.
        Removed = "removed",
        /// A summary stands for it.
        Summarized = "summarized",
        /// It is encrypted elsewhere.
        EncryptedRef = "encrypted_ref",
        /// A policy keeps it back.
        PolicyBlocked = "policy_blocked",
        /// Nobody knows.
        Unknown = "unknown",
    }
}
