# Completions of ctx for bash. What may stand at a place is asked of `ctx` itself, so it knows the heads and commits.
_ctx() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <(command ctx complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
# Where ctx knows nothing, there may be a file. Older versions of bash sort in any case.
complete -o bashdefault -o default -o nosort -F _ctx ctx 2>/dev/null ||
    complete -o bashdefault -o default -F _ctx ctx
