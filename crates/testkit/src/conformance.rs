//! One suite for every storage engine: facts about each operation of the product.
//!
//! Each fact is a function over a [`Backend`](crate::Backend); [`conformance!`](crate::conformance) makes a test of
//! each. A new function must be listed there, which a test of this module checks.

// The modules are public for the macro only; the names of their functions say what they hold to be true.
#[doc(hidden)]
pub mod annotations;
#[doc(hidden)]
pub mod artifacts;
#[doc(hidden)]
pub mod assemble;
#[doc(hidden)]
pub mod assembly_records;
#[doc(hidden)]
pub mod bundles;
#[doc(hidden)]
pub mod capture;
#[doc(hidden)]
pub mod channel_context;
#[doc(hidden)]
pub mod channel_turns;
#[doc(hidden)]
pub mod channels;
#[doc(hidden)]
pub mod checkpoint;
#[doc(hidden)]
pub mod collecting;
#[doc(hidden)]
pub mod compact;
#[doc(hidden)]
pub mod edits;
#[doc(hidden)]
pub mod envelope_bundles;
#[doc(hidden)]
pub mod envelopes;
#[doc(hidden)]
pub mod find;
#[doc(hidden)]
pub mod formats;
#[doc(hidden)]
pub mod heads;
#[doc(hidden)]
pub mod health;
#[doc(hidden)]
pub mod history;
#[doc(hidden)]
pub mod import;
#[doc(hidden)]
pub mod import_documents;
#[doc(hidden)]
pub mod import_heads;
#[doc(hidden)]
pub mod import_links;
#[doc(hidden)]
pub mod journal;
#[doc(hidden)]
pub mod keys;
#[doc(hidden)]
pub mod masked_bundles;
#[doc(hidden)]
pub mod materialize;
#[doc(hidden)]
pub mod purging;
#[doc(hidden)]
pub mod references;
#[doc(hidden)]
pub mod renderings;
#[doc(hidden)]
pub mod resume;
#[doc(hidden)]
pub mod roles;
#[doc(hidden)]
pub mod search;
#[doc(hidden)]
pub mod secrets;
#[doc(hidden)]
pub mod sessions;
#[doc(hidden)]
pub mod spaces;
#[doc(hidden)]
pub mod together;
#[doc(hidden)]
pub mod translate;

/// Makes one test of each fact for a backend. The calling crate needs `tokio` with its macros.
#[macro_export]
macro_rules! conformance {
    ($backend:ty) => {
        $crate::conformance! { @areas $backend;
            annotations:
                everything_said_is_kept_with_who_and_when,
                the_latest_is_in_force,
                only_commits_are_annotated;
            artifacts:
                content_of_any_size_comes_back_bit_equal,
                text_is_stored_smaller_than_it_is,
                identical_content_is_stored_once,
                a_near_copy_adds_little,
                each_artifact_stored_by_itself_is_in_the_journal_once,
                the_content_of_a_commit_is_an_artifact,
                a_missing_artifact_is_named,
                a_damaged_artifact_is_an_error_and_never_wrong_bytes,
                a_reader_that_fails_stores_no_artifact;
            assemble:
                a_turn_leaves_an_envelope_that_can_be_replayed,
                the_oldest_turns_go_first_and_leave_their_summaries,
                a_long_history_is_read_no_further_than_the_budget_reaches,
                a_compaction_is_where_the_history_begins,
                omitted_items_have_reasons,
                what_was_redacted_is_reported_as_such,
                a_retry_is_another_envelope,
                what_is_missing_is_raised_and_settled,
                what_is_required_and_does_not_fit_is_reported_or_rejected,
                tokens_are_counted_once,
                exports_reach_the_highest_level,
                what_was_really_sent_may_be_something_else,
                a_replay_is_equal_in_another_store;
            assembly_records:
                items_of_a_history_are_what_they_are,
                a_compaction_of_the_chain_is_exported_as_one,
                every_event_of_the_standard_occurs,
                exports_keep_to_all_that_is_recommended;
            bundles:
                a_bundle_carries_all_that_leads_to_its_heads,
                a_bundle_of_everything_holds_what_no_head_leads_to,
                taking_in_a_bundle_again_changes_nothing,
                a_bundle_of_commits_has_no_heads_and_only_their_past,
                heads_move_forward_or_stay,
                a_bundle_joins_what_a_store_already_has,
                a_damaged_bundle_changes_nothing,
                what_is_not_there_cannot_be_exported;
            masked_bundles:
                a_masked_bundle_keeps_ids_and_holds_no_secret,
                what_was_purged_travels_as_what_it_is,
                exact_content_that_comes_later_is_taken_in_and_looked_through,
                exact_content_that_is_checked_in_is_taken_in_as_well,
                what_is_here_stays_exact,
                what_a_bundle_brings_is_looked_through,
                what_a_bundle_says_of_placeholders_is_proved;
            capture:
                a_session_that_is_taken_in_as_it_grows_is_the_one_that_is_imported,
                programs_that_take_in_a_session_at_once_take_in_each_line_once,
                who_goes_back_over_a_turn_of_many_calls_finds_the_turn_before,
                an_occasion_tells_the_trigger_the_ending_and_what_the_principal_does,
                what_a_runtime_notes_after_an_answer_belongs_to_the_turn_that_follows,
                who_goes_back_to_a_prompt_that_was_taken_in_shares_it,
                what_waits_in_a_spool_is_taken_in_though_its_file_is_gone,
                a_spool_is_taken_in_once_however_often_it_is_drained,
                what_continues_nothing_is_kept_aside,
                a_spool_that_was_damaged_loses_nothing_else,
                agents_are_linked_when_their_session_ends;
            channel_context:
                a_context_begins_with_the_bytes_of_the_one_before,
                a_message_that_comes_while_a_context_is_made_is_in_the_next_one_alone,
                a_channel_beyond_the_budget_keeps_its_newest_end_and_says_what_is_left_out,
                topics_are_told_from_where_the_agent_ended_and_the_trigger_once,
                a_required_topic_without_a_message_is_missing_and_fails_where_the_recipe_says_so,
                a_state_is_published_with_what_changes_it_and_not_again,
                figures_are_published_and_no_prompt_holds_them;
            channel_turns:
                participants_are_who_is_registered,
                a_turn_offers_what_is_new_and_is_acknowledged_once,
                a_turn_is_held_until_it_ends_or_expires,
                a_cursor_goes_no_further_than_what_was_offered_and_back_with_a_reason,
                a_turn_is_about_what_is_for_the_agent,
                a_session_belongs_to_one_agent_channel_and_place,
                of_many_that_begin_at_once_one_does;
            channels:
                a_channel_is_made_found_listed_and_closed,
                the_same_message_is_kept_once_and_another_under_its_id_is_refused,
                a_batch_is_appended_whole_or_not_at_all,
                an_append_may_ask_where_the_channel_ends,
                messages_are_found_by_what_they_are,
                what_is_said_is_content_like_any_other,
                every_follower_sees_every_message_once_and_in_order;
            checkpoint:
                a_commit_keeps_every_field_and_its_id_follows_from_them,
                the_head_of_a_thread_is_where_somebody_spoke_last,
                the_same_steps_give_the_same_ids_in_every_store,
                the_same_commit_again_changes_nothing,
                a_missing_parent_is_refused,
                a_missing_merged_commit_is_refused,
                a_compaction_needs_a_parent_and_a_snapshot_does_not,
                empty_content_is_refused_unless_nothing_is_checked,
                malformed_content_is_refused_and_changes_nothing,
                messages_are_counted_unless_the_caller_did,
                a_stream_makes_the_commit_that_its_bytes_make,
                a_stream_that_goes_bad_at_its_end_commits_nothing,
                a_reader_that_fails_commits_nothing,
                a_stored_artifact_can_be_checked_in_and_a_missing_one_not,
                annotations_of_a_checkpoint_come_with_the_commit;
            collecting:
                what_nothing_refers_to_goes_once_it_is_old,
                what_is_referred_to_or_was_stored_by_itself_stays,
                what_was_left_and_is_stored_by_itself_then_stays,
                what_was_left_and_is_found_again_is_young,
                who_takes_longer_than_the_grace_is_told,
                writers_and_collections_go_on_beside_each_other;
            compact:
                plain_text_becomes_an_entry_of_the_chains_format,
                a_summary_in_the_chains_format_is_taken_as_it_is,
                a_summary_may_be_in_another_format,
                coverage_is_what_the_summary_replaces,
                a_compaction_moves_a_head_from_what_it_covers,
                what_cannot_be_a_summary_is_refused,
                a_snapshot_is_what_its_commit_materializes_to,
                a_large_snapshot_is_streamed,
                a_snapshot_that_cannot_be_taken_changes_nothing;
            edits:
                the_newest_call_that_wrote_a_line_is_found,
                a_line_without_words_belongs_to_its_neighbours,
                writing_a_whole_file_repeats_what_was_there,
                a_call_that_failed_wrote_nothing,
                paths_are_taken_from_where_the_agent_works,
                no_more_is_looked_at_than_was_allowed,
                what_repeats_or_cannot_be_read_writes_nothing,
                an_occasion_reaches_back_to_where_the_turn_began;
            envelope_bundles:
                envelopes_go_along_with_their_commits,
                what_has_no_commit_goes_along_with_everything,
                a_bundle_without_envelopes_stays_readable_for_older_programs,
                taking_in_envelopes_again_changes_nothing,
                what_was_added_elsewhere_is_added_here,
                the_later_state_of_missing_context_counts,
                envelopes_go_from_one_engine_to_the_other_and_back;
            envelopes:
                an_envelope_is_kept_with_all_that_goes_with_it,
                the_same_document_is_one_envelope,
                what_an_envelope_needs_must_be_there,
                more_small_artifacts_than_are_held_are_all_there,
                envelopes_are_listed_newest_first,
                the_latest_of_a_stream_goes_before_the_next,
                an_envelope_is_found_by_an_abbreviated_id,
                an_injection_is_recorded_once,
                missing_context_changes_under_one_id,
                events_are_journaled_and_found_by_envelope,
                what_is_kept_in_one_space_another_does_not_see,
                token_counts_are_known_in_every_space,
                a_check_names_lost_artifacts_of_envelopes;
            find:
                resolve_finds_the_last_commit_at_or_before_an_instant,
                resolve_breaks_ties_by_sequence,
                each_filter_keeps_what_it_names,
                a_list_shows_commits_as_they_are_newest_first,
                pages_cover_a_list_exactly_once,
                a_tag_or_label_is_found_as_long_as_it_holds,
                a_summary_is_missing_until_given_and_after_it_is_withdrawn;
            formats:
                lines_join_also_where_the_last_line_feed_is_missing,
                one_part_comes_out_as_it_went_in,
                json_arrays_become_one_array,
                cbor_arrays_become_one_array,
                bytes_of_other_formats_are_appended,
                large_parts_join_like_small_ones,
                a_chain_of_several_formats_is_not_guessed_at,
                a_part_that_is_no_array_cannot_be_joined;
            heads:
                a_head_is_made_moved_and_deleted,
                a_head_that_is_elsewhere_is_a_conflict_and_stays,
                a_head_points_to_commits_only,
                what_does_not_exist_is_neither_moved_nor_deleted,
                a_fork_needs_a_free_name,
                a_checkpoint_onto_a_head_continues_it,
                an_explicit_parent_away_from_the_head_is_a_conflict,
                an_expectation_lets_a_head_go_another_way,
                every_move_is_logged_with_who_and_when,
                heads_are_listed_by_name_in_pages;
            health:
                measures_count_what_is_there,
                measures_of_an_empty_space_are_zero,
                a_check_of_a_whole_space_finds_nothing,
                a_check_names_what_is_damaged_and_what_is_lost,
                every_table_is_described_column_by_column;
            history:
                a_commit_knows_its_depth_and_place_in_the_journal,
                children_come_in_the_order_they_were_made,
                a_walk_from_several_commits_meets_each_once_before_its_parent,
                a_walk_yields_pages_of_the_size_asked_for,
                a_walk_shows_commits_as_they_are,
                a_walk_from_a_missing_commit_is_refused,
                a_timeline_follows_the_times_and_never_tells_a_parent_first,
                a_turn_is_what_was_done_until_the_next_request,
                two_chains_are_compared_from_where_they_part,
                looking_writes_nothing;
            import:
                each_turn_of_a_session_is_a_commit,
                taking_in_a_session_again_adds_only_what_is_new,
                what_was_taken_back_becomes_a_branch,
                a_prompt_that_replaces_an_unfinished_one_shares_what_came_before,
                a_compaction_of_the_runtime_is_one_here,
                a_copy_of_a_session_joins_the_chain_that_it_continues,
                garbage_in_a_session_is_named_and_kept,
                a_session_is_read_in_whatever_encoding_it_was_written,
                a_session_that_was_rewritten_is_taken_in_anew,
                what_belongs_to_no_conversation_is_kept_whatever_its_size,
                a_rollout_that_was_compressed_is_the_same_session,
                damage_in_a_compressed_rollout_spares_what_comes_before,
                a_history_that_compactions_repeat_is_stored_once,
                sessions_that_real_clients_wrote_come_back_byte_for_byte;
            import_heads:
                an_older_copy_never_moves_a_head_back,
                a_session_is_named_by_the_first_record_that_names_one,
                a_session_is_at_the_leaf_that_its_runtime_names,
                a_session_goes_on_where_somebody_asked_last,
                two_sessions_in_one_file_are_two,
                what_follows_a_compaction_in_a_stream_is_commits_of_its_own,
                a_stream_without_prompts_moves_its_head_with_every_capture;
            import_documents:
                each_turn_of_an_array_is_a_commit,
                messages_inside_a_request_are_found_and_the_rest_is_kept,
                each_turn_of_a_cbor_array_is_a_commit,
                an_older_gemini_document_becomes_the_lines_of_a_newer_session,
                a_newer_version_of_a_document_takes_the_place_of_the_older,
                damage_in_a_document_spares_what_comes_before,
                a_grown_document_adds_little,
                a_session_in_a_database_is_read_as_its_export;
            import_links:
                a_sub_agent_names_the_turn_that_started_it,
                a_thread_that_codex_started_names_the_turn_that_did,
                a_fork_by_reference_joins_the_chain_that_it_continues;
            journal:
                every_mutation_is_one_record_in_order,
                a_record_says_who_and_when,
                pages_go_on_after_a_sequence_number;
            keys:
                a_retry_gives_the_same_commit_however_late,
                a_key_used_for_another_request_is_a_conflict,
                two_keys_for_one_commit_both_find_it,
                a_refused_request_does_not_use_up_its_key;
            materialize:
                nothing_materializes_to_an_empty_conversation,
                counts_are_measured_and_not_what_commits_claim,
                it_goes_back_to_the_nearest_compaction_or_snapshot,
                a_root_snapshot_is_part_of_the_conversation,
                it_goes_back_to_an_ancestor_that_is_included,
                a_stop_that_is_no_ancestor_is_refused,
                a_missing_commit_or_stop_is_named,
                absent_and_damaged_bytes_are_told_apart,
                forks_share_the_past_and_nothing_else,
                long_chains_come_out_whole_and_in_order;
            purging:
                a_purged_commit_is_gone_and_its_chain_goes_on,
                the_same_bytes_do_not_bring_purged_content_back,
                a_bundle_does_not_bring_purged_content_back,
                an_import_tells_of_purged_content_that_stays_so,
                a_purged_secret_leaves_what_surrounds_it,
                what_did_not_come_along_is_taken_in_when_it_comes;
            references:
                an_id_may_be_cut_to_what_is_unambiguous,
                what_no_id_starts_with_is_refused,
                a_head_goes_before_an_id_that_starts_so,
                steps_back_follow_parents_over_forks,
                artifacts_are_found_by_abbreviated_ids;
            resume:
                a_session_in_its_own_runtime_has_another_id_and_nothing_else,
                a_session_that_is_there_is_not_touched,
                what_a_resumed_session_adds_goes_onto_the_chain,
                going_back_in_a_resumed_session_branches_at_that_turn,
                a_head_that_somebody_else_has_moved_does_not_follow,
                a_session_in_another_runtime_goes_on_with_the_same_chain,
                a_session_that_went_on_elsewhere_comes_back_to_its_own_records,
                its_own_compaction_stays_in_a_session_that_went_on_elsewhere,
                a_summary_of_ours_is_where_a_session_begins,
                a_file_in_which_nobody_speaks_does_not_stand_for_its_session,
                a_session_in_a_shape_that_its_runtime_no_longer_reads_is_written_anew,
                what_a_runtime_tells_its_model_of_itself_stays_in_it;
            roles:
                a_session_keeps_its_role_until_another_is_named,
                a_session_with_a_role_is_known_wherever_its_file_lies,
                what_stands_for_a_history_has_its_role,
                whoever_goes_on_from_a_commit_has_its_role;
            search:
                everything_that_was_said_is_found,
                a_snippet_shows_the_match,
                hits_of_one_commit_are_folded_and_the_newest_of_equals_comes_first,
                each_search_filter_keeps_what_it_names,
                a_label_holds_until_it_is_set_anew,
                the_index_takes_in_what_is_new_and_nothing_twice,
                only_what_is_in_force_is_found,
                a_snapshot_repeats_nothing_and_a_compaction_is_found,
                a_large_commit_is_taken_in_piece_by_piece,
                a_long_text_is_found_from_its_start_to_its_end,
                an_index_is_made_anew,
                content_that_cannot_be_read_is_passed_over,
                several_that_index_at_once_duplicate_nothing,
                equal_queries_find_equal_commits;
            secrets:
                what_was_found_in_artifacts_of_any_size_is_hidden,
                what_was_found_in_commits_is_hidden_in_the_conversation,
                findings_are_recorded_once_and_journaled,
                who_reveals_content_is_in_the_journal;
            sessions:
                sessions_come_newest_first_and_those_of_a_project_are_numbered,
                a_session_is_what_is_its_own_of_its_chain,
                a_session_is_named_by_number_beginning_or_last;
            spaces:
                what_one_space_holds_another_does_not_see,
                a_handle_leads_to_another_space_and_acts_for_another,
                the_same_things_live_in_two_spaces_without_meeting,
                a_space_is_made_by_the_first_write;
            together:
                concurrent_checkpoints_are_all_durable_in_one_order,
                concurrent_checkpoints_onto_one_head_form_one_chain,
                one_of_many_that_expect_the_same_wins,
                programs_that_take_turns_go_on_from_each_other,
                a_refused_checkpoint_is_not_taken_for_known,
                concurrent_retries_of_one_request_make_one_commit,
                a_refused_checkpoint_takes_nothing_of_its_neighbours_with_it,
                everything_is_there_after_reopening;
            renderings:
                a_translation_is_made_once,
                a_purge_takes_the_translations_with_it,
                secrets_are_never_taken_from_what_was_kept,
                translations_that_nobody_uses_go;
            translate:
                a_chain_is_mapped_entry_by_entry,
                our_own_format_holds_all_that_a_chain_says,
                sessions_of_bureau_and_opencode_are_written,
                a_chain_in_the_wanted_format_is_not_touched,
                stretches_of_several_formats_become_one_conversation,
                the_oldest_stretch_stays_as_it_was_stored,
                a_call_that_waits_at_the_border_goes_with_its_result,
                what_is_changed_later_does_not_stay_as_it_was_stored,
                records_without_the_session_that_they_belong_to_are_mapped,
                a_summary_comes_first_whatever_its_format,
                what_a_compaction_keeps_is_found_before_it,
                text_that_is_not_understood_is_rendered_within_bounds,
                what_is_no_text_is_named_with_the_way_to_it,
                broken_records_and_provider_secrets_are_reported,
                a_tier_may_be_forced,
                a_format_that_nothing_writes_is_refused_with_those_that_can_be,
                each_commit_of_a_chain_is_read_by_its_own_format;
        }
    };
    (@areas $backend:ty; $($area:ident: $($fact:ident),+;)+) => {
        $(mod $area {
            $(#[tokio::test]
            async fn $fact() {
                $crate::conformance::$area::$fact::<$backend>().await;
            })+
        })+
    };
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    #[test]
    fn every_fact_is_listed() {
        let listed = include_str!("conformance.rs");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conformance");
        let mut facts = 0;
        for file in fs::read_dir(folder).unwrap() {
            let source = fs::read_to_string(file.unwrap().path()).unwrap();
            for fact in source.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once("<B: Backend>"))
            {
                let is_listed = listed.lines().any(|line| line.trim_start().trim_end_matches([',', ';']) == fact.0);
                assert!(is_listed, "{} is not listed", fact.0);
                facts += 1;
            }
        }
        assert!(facts > 90, "the facts are no longer found: {facts}");
    }
}
