# `kumite compare`: what hyperfine's users have stumbled over, and what a command or a hook may do.

# The terminal.
case_1_a_shell_that_is_interactive_runs_at_a_terminal() {
    at_a_terminal "$COMPARE --runs 3 'bash --norc -i -c exit'"
}
case_5_a_hook_may_set_the_terminal() {
    at_a_terminal "$COMPARE --runs 3 --prepare 'stty -F /dev/tty sane' true"
}
case_1_what_reads_sets_or_asks_the_terminal_has_it() {
    # As sudo asks for a password, and as an editor sets the screen.
    printf '#!/bin/sh\nstty -echo < /dev/tty; printf "password: " > /dev/tty; read -r p < /dev/tty; stty echo < /dev/tty; [ "$p" = x ]\n' > ask
    printf '#!/bin/sh\nold=$(stty -g < /dev/tty); stty raw -echo < /dev/tty; stty "$old" < /dev/tty\n' > edit
    chmod +x ask edit
    needs script
    for flag in '' --setup --prepare --conclude --cleanup; do
        for program in ./edit ./ask 'read -r p < /dev/tty'; do
            arguments="${flag:+$flag }'$program'${flag:+ true}"
            { (for nth in {1..200}; do echo x; sleep 0.1; done) || :; } 2> said | timeout -k 1 30 script -qefc "$COMPARE --runs 2 $arguments" /dev/null > out 2>&1 ||
                { tail -n 3 out; fail "$arguments"; }
        done
    done
}
case_1_an_editor_ends() {
    needs vim
    at_a_terminal "$COMPARE --runs 2 --show-output 'vim -u NONE -c :q < /dev/tty > /dev/tty'"
}
case_1_ctrl_c_ends_what_has_the_terminal() {
    of_kumite "a report after Ctrl-C"
    needs script
    # It is typed when the command has the terminal.
    (until [ -e has ]; do sleep 0.1; done; printf '\003'; sleep 1) |
        timeout -k 1 20 script -qefc "kumite compare 'stty sane < /dev/tty; touch has; sleep 60'" /dev/null > out 2>&1 && fail "it ended with 0"
    says out interrupted
}
case_1_who_cannot_have_the_terminal_is_told() {
    of_kumite "a word on it"
    needs script
    # As with `&` from a shell with job control: the terminal is that of another group.
    printf '#!/bin/bash\nset -m\nkumite compare --runs 1 "$@" &\nwait $!\n' > beside
    chmod +x beside
    for arguments in "'read x < /dev/tty'" "--prepare 'read x < /dev/tty' true" "--setup 'read x < /dev/tty' true"; do
        if timeout -k 1 20 script -qefc "./beside $arguments" /dev/null > out 2>&1 < /dev/null; then fail "it ended with 0"; fi
        says out 'wanted the terminal'
    done
}
case_1_a_contender_that_wants_the_terminal_is_told() {
    of_kumite check
    kumite init x --kind command > /dev/null 2>&1
    cp x/contenders/shell/contender.toml kept
    for key in version build run; do
        { sed "/^$key /d" kept | sed "$([ $key = run ] && echo '$a' || echo 2i)$key = 'read x < /dev/tty'"; } > x/contenders/shell/contender.toml
        if timeout -k 1 20 script -qefc "kumite check x" /dev/null > out 2>&1 < /dev/null; then cat out; fail "it ended with 0"; fi
        says out 'wanted the terminal'
    done
}
case_1_who_is_stopped_is_not_waited_for() {
    of_kumite "a word on it"
    ends 3 timeout 20 kumite compare --runs 1 'kill -STOP $$'
    says err 'was stopped'
    ends 3 timeout 20 kumite compare --runs 1 'sleep 60 & kill -STOP $!; wait'
    says err 'was stopped'
    ends 3 timeout 20 kumite compare --runs 1 --prepare 'kill -STOP $$' true
    says err 'was stopped'
    # Who is let go on within a second goes on.
    compare --runs 1 '(sleep 0.2; kill -CONT $$) & kill -STOP $$'
}

# A command runs as often as it is told, and not after it has failed.
case_E1_a_command_runs_exactly_as_often_as_told() {
    compare --runs 1 'echo x >> n'
    is 1 $(wc -l < n)
    compare --runs 3 'echo x >> a' 'echo x >> b' --prepare 'echo x >> p' --conclude 'echo x >> c'
    is '3 3 6 6' $(wc -l < a) $(wc -l < b) $(wc -l < p) $(wc -l < c)
}
case_23_nothing_runs_after_a_failure() {
    printf '#!/bin/sh\necho x >> m; [ $(wc -l < m) -ne 4 ]\n' > f
    chmod +x f
    if compare --runs 100 ./f; then fail "a run failed, and it ended with 0"; fi
    is 4 $(wc -l < m)
}

# What hooks and runs leave.
case_3_what_setup_leaves_lives_through_all_runs() {
    compare --runs 3 --setup 'sleep 60 & echo $! > pid' 'grep -q . /proc/$(cat pid)/cmdline'
}
case_4_what_a_run_leaves_is_there_for_conclude() {
    compare --runs 3 --conclude 'kill $(cat pid)' 'sleep 60 & echo $! > pid'
}
case_24_what_a_run_leaves_serves_the_next_one_and_is_ended_at_the_end() {
    compare --runs 3 'if [ -e pid ]; then grep -q . /proc/$(cat pid)/cmdline; else sleep 60 & echo $! > pid; fi'
    if [ "$COMPARE" = 'kumite compare' ] && lives $(cat pid); then fail "it still runs"; fi
}

# What is asked for.
case_2_a_scan_may_be_given_twice() {
    compare --runs 2 --show-output -P w 1 2 -P h 7 8 'echo {w}x{h}' > out
    is 0 $(grep -c '{w}x{h}$' out)
}
case_6_an_output_for_each_command() {
    compare --runs 1 --output ./a 'echo a' --output ./b 'echo b'
    is 'a b' $(cat a) $(cat b)
}
case_8_a_script_without_its_first_line_runs_as_from_a_shell() {
    echo 'echo hi' > s
    chmod +x s
    compare --runs 3 ./s
}
case_22_an_empty_hook_is_refused_before_anything_runs() {
    of_kumite "a refusal of an empty hook"
    for hook in --setup --prepare --conclude --cleanup; do
        for text in '' ' ' '# x'; do
            if compare --runs 3 $hook "$text" 'touch ran'; then fail "$hook '$text' was taken"; fi
            [ ! -e ran ] || fail "something ran before $hook '$text' was refused"
        done
    done
}
case_E2_what_cannot_be_started_is_told_first_and_alone() {
    for i in {1..20}; do compare --runs 5 true ./missing > /dev/null 2>> err || :; done
    says_not err 'Broken pipe'
    is 1 $(sort -u err | wc -l)
}
case_E3_equal_commands_write_the_same() {
    of_kumite --same-output
    compare --runs 3 --same-output env env
}
case_33_a_loop_that_is_misspelled_has_a_hint() {
    of_kumite play
    printf 'loop 2\nlp 1\nendloop\n' | kumite play --check - > out 2>&1 || :
    says out '<loop N>'
}
