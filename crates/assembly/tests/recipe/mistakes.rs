//! What is said about recipes that are not good.

use contexture_assembly::{
    counters,
    recipe::{Recipe, Syntax},
};

use crate::refused;

/// A recipe whose only segment is written by the case.
fn with_segment(segment: &str) -> String {
    format!("[[segments]]\nname = \"only\"\n{segment}")
}

/// A recipe whose only source is written by the case.
fn with_source(source: &str) -> String {
    with_segment(&format!("[[segments.sources]]\n{source}"))
}

/// A recipe that is good but for what the case writes before its segment.
fn with_head(head: &str) -> String {
    format!("{head}\n{}", with_source("source = \"items\""))
}

#[track_caller]
fn assert_refused(toml: &str, expected: &[&str]) {
    assert_eq!(refused(Syntax::Toml, toml), expected, "\n{toml}");
}

#[test]
fn unknown_fields_are_asked_for_by_their_likely_names() {
    assert_refused(
        &with_source("source = \"trigger\"\nprioritty = \"high\""),
        &["segments[0].sources[0].prioritty: nothing is known by this name; did you mean `priority`?"],
    );
    assert_refused(
        &with_head("maxTokens = 3"),
        &[
            "maxTokens: nothing is known by this name; name, description, scope, counter, target, model, max_output, overflow, budget and \
           segments are",
        ],
    );
    assert_refused(
        &with_head(
            "[budget]\nmaxTokens = 3\n[budget.targets.tools]\nmax_tokens = 3\n[budget.targets.tool]\nmaxbytes = 1",
        ),
        &[
            "budget.targets.tool.maxbytes: nothing is known by this name; did you mean `max_bytes`?",
            "budget.targets.tools: nothing is known by this name; did you mean `tool`?",
            "budget.maxTokens: nothing is known by this name; did you mean `max_tokens`?",
        ],
    );
    assert_refused(
        &with_segment("stabilty = \"stable\"\n[[segments.sources]]\nsource = \"system\"\ntext = \"a\""),
        &["segments[0].stabilty: nothing is known by this name; did you mean `stability`?"],
    );
    assert_refused(
        &with_source("source = \"history\"\nlimit = 5"),
        &["segments[0].sources[0].limit: nothing is known by this name; source, beyond_compaction, thinking, \
           max_turns, priority, kind, title, visibility, trust and \
           sensitivity are"],
    );
    assert_refused(
        &with_head("\"a b\\u0007\" = 1\nnme = \"x\""),
        &[
            "\"a b\\u{7}\": nothing is known by this name; name, description, scope, counter, target, model, max_output, overflow, budget \
         and segments are",
            "nme: nothing is known by this name; did you mean `name`?",
        ],
    );
}

#[test]
fn unknown_words_are_asked_for_by_their_likely_spelling() {
    assert_refused(
        &with_source(
            "source = \"trigger\"\npriority = \"hihg\"\nkind = \"user_mesage\"\nvisibility = [\"modell\", \"ui\"]",
        ),
        &[
            "segments[0].sources[0].priority: \"hihg\" is not one of required, high, medium, low; did you mean `high`?",
            "segments[0].sources[0].kind: \"user_mesage\" is not one of user_message, system_prompt, \
             developer_instruction, session_history, thread_summary, working_memory, durable_memory, \
             knowledge_pack_item, document_excerpt, file_excerpt, artifact_ref, tool_result, browser_state, \
             runtime_state, team_memory, policy_note, external_resource, manual_note, computed_summary, \
             peer_agent_message, retrieval_result, custom; did you mean `user_message`?",
            "segments[0].sources[0].visibility[0]: \"modell\" is not one of model, tool, runtime, ui, user, reviewer, \
             peer_agent, evidence_export; did you mean `model`?",
        ],
    );
    assert_refused(
        &with_head("counter = \"claude-estmate\"\nscope = \"tern\""),
        &[
            "scope: \"tern\" is not one of turn, task, session, tool_invocation, review, handoff, custom; did you mean \
             `turn`?",
            &format!(
                "counter: there is no token counter \"claude-estmate\"; there are {}; did you mean `claude-estimate`?",
                counters().iter().map(|counter| counter.name()).collect::<Vec<_>>().join(", ")
            ),
        ],
    );
    assert_refused(
        &with_head("target = [\"anthropic\", \"model:anthropic\", \"ui:antropic\"]"),
        &[
            "target[1]: target[0] is the same",
            "target[2]: \"antropic\" is not a rendering (prompt, anthropic, openai-chat, openai-responses, \
             claude-code, codex, gemini, pi); did you mean `anthropic`?",
        ],
    );
    assert_refused(
        &with_source("source = \"sistem\"\ntext = \"a\"\ntxt = \"b\""),
        &[
            "segments[0].sources[0].source: \"sistem\" is not one of system, instructions, text, history, files, \
             retrieval, missing, items, trigger, topic, channel, skip_hints; did you mean `system`?",
            "segments[0].sources[0].txt: nothing is known by this name; did you mean `text`?",
        ],
    );
    assert_refused(
        &with_source("sorce = \"system\"\ntext = \"a\""),
        &[
            "segments[0].sources[0].source: it is missing",
            "segments[0].sources[0].sorce: nothing is known by this name; did you mean `source`?",
        ],
    );
}

#[test]
fn strategies_that_are_not_done_are_refused_with_those_that_are() {
    let done = "reject, truncate_tail, truncate_middle, summarize_oldest, summarize_low_priority, defer_to_retrieval";
    for strategy in ["ask_for_choice", "policy_block", "custom"] {
        let expected = format!("overflow: {strategy} is not done here; {done} are");
        assert_refused(&with_head(&format!("overflow = \"{strategy}\"")), &[&expected]);
    }
    assert_refused(
        &with_segment("overflow = \"summarise_oldest\"\n[[segments.sources]]\nsource = \"items\""),
        &[&format!(
            "segments[0].overflow: \"summarise_oldest\" is not one of {done}; did you mean `summarize_oldest`?"
        )],
    );
}

#[test]
fn values_of_another_type_or_out_of_range_are_refused() {
    assert_refused(
        &with_head(
            "name = \"two\\nlines\"\ndescription = 3\ntarget = 4\n[budget]\nmax_tokens = \"4\"\nreserved_tokens = -1\n\
             max_bytes = 0\nmax_items = 1.5\nmax_chars = 9007199254740992",
        ),
        &[
            "name: \"two\\nlines\" cannot be a recipe name: it has a control character",
            "description: expected a text, found 3",
            "target: expected a text or a list, found 4",
            "budget.max_tokens: expected a whole number, 0 or more, found a text",
            "budget.reserved_tokens: expected a whole number, 0 or more, found -1",
            "budget.max_items: expected a whole number, 0 or more, found 1.5",
            "budget.max_chars: expected a number below 2^53, found 9007199254740992",
        ],
    );
    assert_refused(
        &with_head("budget = 7\ntarget = []"),
        &["target: it needs at least one", "budget: expected an object, found 7"],
    );
    assert_refused(&with_head("[budget]\nmax_tokens = nan"), &["budget.max_tokens: expected a number, found NaN"]);
    assert_refused(
        &with_source("source = \"history\"\nmax_turns = 0\nthinking = \"yes\""),
        &[
            "segments[0].sources[0].thinking: expected true or false, found a text",
            "segments[0].sources[0].max_turns: expected a whole number, 1 or more, found 0",
        ],
    );
    assert_refused(
        &with_source("source = \"retrieval\"\nlimit = 1001\nquery = \" \""),
        &[
            "segments[0].sources[0].query: it is empty",
            "segments[0].sources[0].limit: expected a whole number from 1 to 1000, found 1001",
        ],
    );
}

#[test]
fn a_recipe_needs_segments_and_they_need_names_and_sources() {
    assert_refused("", &["segments: it is missing"]);
    assert_refused("segments = []", &["segments: it needs at least one"]);
    assert_refused("segments = [1]", &["segments[0]: expected an object, found 1"]);
    assert_refused("[[segments]]", &["segments[0].name: it is missing", "segments[0].sources: it is missing"]);
    assert_refused(
        "[[segments]]\nname = \" \"\nsources = []",
        &["segments[0].name: it is empty", "segments[0].sources: it needs at least one"],
    );
    assert_refused(
        "[[segments]]\nname = \"a\"\nsources = [{}, 3]",
        &["segments[0].sources[0].source: it is missing", "segments[0].sources[1]: expected an object, found 3"],
    );
    assert_eq!(refused(Syntax::Json, "[]"), ["$: expected an object, found a list"]);
}

#[test]
fn texts_and_lists_of_sources_must_say_something() {
    assert_refused(&with_source("source = \"system\""), &["segments[0].sources[0]: it needs text or file"]);
    assert_refused(
        &with_source("source = \"system\"\ntext = \"a\"\nfile = \"b\""),
        &["segments[0].sources[0]: text and file both say what the system prompt is; one of them must go"],
    );
    assert_refused(&with_source("source = \"system\"\ntext = \"\\n \""), &["segments[0].sources[0].text: it is empty"]);
    assert_refused(&with_source("source = \"text\""), &["segments[0].sources[0].text: it is missing"]);
    assert_refused(
        &with_source("source = \"text\"\ntext = \"a\"\ncompact = \"\""),
        &["segments[0].sources[0].compact: it is empty"],
    );
    assert_refused(
        &with_source("source = \"instructions\"\nfiles = []"),
        &["segments[0].sources[0].files: it needs at least one"],
    );
    assert_refused(
        &with_source("source = \"files\"\nfiles = [\"a\", \"\", 3, \"a\"]\nvisibility = []\ntitle = \"\"\ntrust = 1"),
        &[
            "segments[0].sources[0].files[1]: it is empty",
            "segments[0].sources[0].files[2]: expected a text, found 3",
            "segments[0].sources[0].files[3]: segments[0].sources[0].files[0] is the same",
            "segments[0].sources[0].title: it is empty",
            "segments[0].sources[0].visibility: it needs at least one",
            "segments[0].sources[0].trust: expected a text, found 1",
        ],
    );
    assert_refused(
        &with_source("source = \"files\"\nvisibility = [\"ui\", \"model\", \"ui\"]"),
        &["segments[0].sources[0].visibility[2]: segments[0].sources[0].visibility[0] is the same"],
    );
}

#[test]
fn segments_have_names_of_their_own_and_stand_in_the_order_of_their_stability() {
    let segment = |name: &str, stability: &str, source: &str| {
        format!(
            "[[segments]]\nname = \"{name}\"\nstability = \"{stability}\"\nsources = [{{ source = \"{source}\" }}]\n"
        )
    };
    let recipe = [
        segment("a", "volatile", "retrieval"),
        segment("b", "append", "history"),
        segment("a", "stable", "instructions"),
    ];
    assert_refused(
        &recipe.concat(),
        &[
            "segments[2].name: segments[0] has this name already",
            "segments[1].stability: it is append, but segments[0] before it is volatile; stable come first, then append, \
         then volatile",
            "segments[2].stability: it is stable, but segments[1] before it is append; stable come first, then append, \
         then volatile",
        ],
    );
}

#[test]
fn sources_stand_where_they_belong_and_some_only_once() {
    let history = "[[segments]]\nname = \"a\"\nstability = \"stable\"\nsources = [{ source = \"history\" }]";
    assert_refused(history, &["segments[0].stability: a segment with a history source must be append, not stable"]);
    let system =
        "[[segments]]\nname = \"a\"\nstability = \"volatile\"\nsources = [{ source = \"system\", file = \"s\" }]";
    assert_refused(system, &["segments[0].stability: a segment with a system source must be stable, not volatile"]);

    let early = "[[segments]]\nname = \"a\"\nsources = [{ source = \"trigger\" }, { source = \"items\" }]\n\
                 [[segments]]\nname = \"b\"\nsources = [{ source = \"trigger\" }]";
    assert_refused(
        early,
        &[
            "segments[0].sources[0].source: the trigger comes last: in the last segment, after all other sources",
            "segments[1].sources[0].source: a recipe has one trigger source at most, and segments[0].sources[0] is one",
        ],
    );
    assert_refused(
        &with_segment("sources = [{ source = \"history\" }, { source = \"channel\" }]"),
        &[
            "segments[0].sources[1].source: segments[0].sources[0] is a conversation too; each is cut at its oldest end and \
           needs a segment of its own",
        ],
    );
    for kind in ["history", "channel", "files", "items", "missing", "skip_hints"] {
        let twice = with_segment(&format!("sources = [{{ source = \"{kind}\" }}, {{ source = \"{kind}\" }}]"));
        assert_refused(
            &twice,
            &[&format!(
                "segments[0].sources[1].source: a recipe has one {kind} source at most, and segments[0].sources[0] is one"
            )],
        );
    }
}

#[test]
fn what_is_kept_must_be_there() {
    let segments = "[[segments]]\nname = \"a\"\nreserve = 600\nsources = [{ source = \"files\" }]\n\
                    [[segments]]\nname = \"b\"\nreserve = 300\nmax_tokens = 200\nsources = [{ source = \"items\" }]";
    assert_refused(
        &format!(
            "[budget]\nmax_tokens = 1000\nreserved_tokens = 200\n[budget.targets.tool]\nmax_tokens = 800\n{segments}"
        ),
        &[
            "budget.max_tokens: the segments reserve 900 tokens, but there are 800 without those for the answer",
            "budget.targets.tool.max_tokens: the segments reserve 900 tokens, but there are 600 without those for the \
             answer",
            "segments[1].max_tokens: it is less than the 300 tokens that the segment reserves",
        ],
    );
    assert_refused(
        &with_head(
            "[budget]\nmax_tokens = 1000\n[budget.targets.tool]\nreserved_tokens = 1000\n[budget.targets.ui]\nmax_items = 1",
        ),
        &[
            "budget.targets.tool.reserved_tokens: it keeps 1000 of 1000 tokens for the answer, which leaves none for the \
           context",
        ],
    );
    // The sum of what is kept has no largest value.
    let most = "reserve = 9007199254740991\nsources = [{ source = \"retrieval\" }]";
    let segment = |n: u32| format!("[[segments]]\nname = \"{n}\"\n{most}\n");
    let recipe = (0..3000).map(segment).collect::<Vec<_>>().concat();
    assert_refused(
        &format!("[budget]\nmax_tokens = 1\n{recipe}"),
        &[
            "budget.max_tokens: the segments reserve 27021597764222973000 tokens, but there are 1 without those for the \
         answer",
        ],
    );
}

#[test]
fn a_mistake_has_no_other_mistakes_in_its_wake() {
    // Nobody can tell what the first segment holds, so nothing is said about the order.
    let recipe = "[[segments]]\nname = \"a\"\nsources = [{ source = \"sytem\", text = \"a\" }]\n\
                  [[segments]]\nname = \"b\"\nstability = \"apend\"\nsources = [{ source = \"history\" }]\n\
                  [[segments]]\nname = \"c\"\nstability = \"volatil\"\nsources = [{ source = \"text\", text = \"a\" }]";
    assert_refused(
        recipe,
        &[
            "segments[0].sources[0].source: \"sytem\" is not one of system, instructions, text, history, files, retrieval, \
         missing, items, trigger, topic, channel, skip_hints; did you mean `system`?",
            "segments[1].stability: \"apend\" is not one of stable, append, volatile; did you mean `append`?",
            "segments[2].stability: \"volatil\" is not one of stable, append, volatile; did you mean `volatile`?",
        ],
    );
}

#[test]
fn topics_are_read_strictly() {
    assert_refused(
        &with_source("source = \"topic\"\nsince = \"last_task_start\"\namount = 0\nstrategy = \"newest\""),
        &[
            "segments[0].sources[0].topic: it is missing",
            "segments[0].sources[0].since: \"last_task_start\" is not one of cluster_start, last_task_end, \
             last_agent_start, a time such as 2026-11-15T20:10:00Z; did you mean `last_task_end`?",
            "segments[0].sources[0].strategy: \"newest\" is not one of latest, oldest, all",
            "segments[0].sources[0].amount: expected a whole number, 1 or more, found 0",
        ],
    );
    assert_refused(
        &with_source("source = \"topic\"\ntopic = \"A\"\nsince = \"2026-13-01\""),
        &[
            "segments[0].sources[0].since: \"2026-13-01\" is not a time: write 2026-11-15T20:10:00Z, with an offset such \
           as +02:00, or a date",
        ],
    );
    assert_refused(
        &with_segment(
            "sources = [{ source = \"topic\", topic = \"A\" }, { source = \"topic\", topic = \"A\", amount = \"2\" }]",
        ),
        &["segments[0].sources[1].amount: expected a whole number, 1 or more, found a text"],
    );
    let topic = "{ source = \"topic\", topic = \"A\", amount = 2 }";
    let again = "{ source = \"topic\", topic = \"A\", amount = 2, strategy = \"latest\", priority = \"low\" }";
    assert_refused(
        &with_segment(&format!("sources = [{topic}, {again}]")),
        &["segments[0].sources[1]: segments[0].sources[0] takes the same messages"],
    );
}

#[test]
fn what_is_not_toml_or_json_is_reported_with_line_and_column() {
    assert_refused(
        "name = \"a\"\ncounter = \n",
        &["it is not TOML", "string values must be quoted, expected literal string at line 2 column 11"],
    );
    assert_refused(
        "a = 1\nb = \"ü\" x\n",
        &["it is not TOML", "unexpected key or value, expected newline, `#` at line 2 column 9"],
    );
    assert_refused("name = \"a\"\nname = \"b\"\n", &["it is not TOML", "duplicate key at line 2 column 1"]);
    assert_eq!(refused(Syntax::Json, "{\n \"name\": }"), ["it is not JSON", "expected value at line 2 column 10"]);
    let binary = Recipe::parse(Syntax::Toml, b"name = \"\xff\"", "file").unwrap_err();
    assert_eq!(binary.to_string(), "it is not UTF-8");
}
