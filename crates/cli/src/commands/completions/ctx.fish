# Completions of ctx for fish. What may stand at a place is asked of `ctx` itself, so it knows the heads and commits.
function __ctx_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    test -n "$current"; or set current ''
    set -l found (command ctx complete -- $words[2..-1] $current 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        # Where ctx knows nothing, there may be a file.
        __fish_complete_path $current
    end
end
complete --command ctx --no-files --keep-order --arguments '(__ctx_complete)'
