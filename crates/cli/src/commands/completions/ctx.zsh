#compdef ctx
# Completions of ctx for zsh. What may stand at a place is asked of `ctx` itself, so it knows the heads and commits.
_ctx() {
    local line
    local -a values shown
    while IFS= read -r line; do
        values+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  }")
    done < <(command ctx complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#values )); then
        compadd -V ctx -l -d shown -a values
    else
        # Where ctx knows nothing, there may be a file.
        _files
    fi
}
# As a file of the function path it is the function; sourced it defines it.
if [ "$funcstack[1]" = "_ctx" ]; then
    _ctx "$@"
else
    compdef _ctx ctx
fi
