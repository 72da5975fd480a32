# What docs/coming-from.md calls the same: each is done by `kumite compare` and by hyperfine, which both have to end alike and to
# leave the same files. hyperfine is the one on PATH, 2.0 or 1.x: `PATH=…:$PATH tests/cases/run.sh hyperfine`.

# both ARGUMENTS…: in folders of their own that begin as the folder `given` does, if there is one.
both() {
    needs hyperfine
    rm -rf by-kumite by-hyperfine
    for folder in by-kumite by-hyperfine; do
        mkdir $folder
        [ ! -d given ] || cp -r given/. $folder/
    done
    local kumite=0 hyperfine=0
    (cd by-kumite && exec kumite compare "$@" > ../kumite.said 2>&1) || kumite=1
    (cd by-hyperfine && exec hyperfine "$@" > ../hyperfine.said 2>&1) || hyperfine=1
    [ $kumite = $hyperfine ] || { tail -n 4 kumite.said hyperfine.said; fail "one fails, and the other does not: $*"; }
    diff -r by-kumite by-hyperfine || { tail -n 4 kumite.said; fail "they leave different files: $*"; }
}

# With a shell for the commands: -S is 2.0's, and 1.x has one unless it is told not to.
in_a_shell() {
    needs hyperfine
    case $(hyperfine --version) in
    'hyperfine 1.'*) both "$@" ;;
    *) both -S "$@" ;;
    esac
}

case_the_same_runs_and_their_numbers() {
    in_a_shell --runs 5 'echo $HYPERFINE_ITERATION >> n'
    in_a_shell --runs 3 --warmup 2 'echo $HYPERFINE_ITERATION >> n'
    in_a_shell -r 2 -w 1 'echo x >> a' 'echo x >> b'
    both --runs 2 'touch "a b"'
}
case_the_same_around_runs() {
    in_a_shell --runs 3 --warmup 1 --prepare 'echo x >> p' --conclude 'echo x >> c' 'echo x >> n'
    in_a_shell -r 2 -p 'echo x >> p1' -p 'echo x >> p2' -C 'echo x >> c1' -C 'echo x >> c2' true false -i
    in_a_shell -r 2 --setup 'echo x >> s' --cleanup 'echo x >> c' 'test -e s' 'test -d .'
    in_a_shell -r 2 --setup 'false' 'touch ran'
    in_a_shell -r 2 --prepare 'false' 'touch ran'
    in_a_shell -r 2 --setup 'sleep 9 & echo $! > pid' --cleanup 'kill $(cat pid) && rm pid' 'kill -0 $(cat pid)'
}
case_the_same_parameters() {
    in_a_shell -r 2 --parameter-scan n 1 3 'echo x >> {n}'
    in_a_shell -r 2 --parameter-scan n 0.3 0.7 -D 0.2 --prepare 'echo {n} > p{n}' 'test -e p{n} && echo x >> r{n}'
    in_a_shell -r 2 -L a 1,2 -L b x,y 'echo x >> {a}{b}'
}
case_the_same_failures() {
    in_a_shell -r 3 'echo x >> n; exit 3'
    in_a_shell -r 3 -i 'echo x >> n; exit 3'
    in_a_shell -r 3 --ignore-failure=1,3 'echo x >> n; exit 3'
    in_a_shell -r 3 --ignore-failure=1,2 'echo x >> n; exit 3'
}
case_the_same_input_and_output() {
    mkdir given
    echo hello > given/in
    in_a_shell -r 2 --input in --output ./out 'cat'
    in_a_shell -r 2 --output ./a 'echo a' --output ./b 'echo b'
    in_a_shell -r 2 --output pipe 'echo a; [ -p /dev/stdout ] && touch piped'
    in_a_shell -r 3 --show-output 'echo is shown'
    is '3 3' $(grep -cx 'is shown' kumite.said) $(grep -cx 'is shown' hyperfine.said)
}
case_the_same_shells() {
    both -r 2 --shell bash 'echo ${BASH_VERSION:+x} $0 > n'
    both -r 2 --shell 'bash --norc' '[[ a == a ]] && echo x >> n'
    both -r 2 -N 'touch n'
    both -r 2 --shell=none 'touch n'
    in_a_shell -r 2 'my_function() { echo x >> n; }; my_function'
    my_function() { echo x >> n; }
    export -f my_function
    both -r 2 --shell=bash my_function
}
case_the_same_environment_of_2_0() {
    needs hyperfine
    case $(hyperfine --version) in 'hyperfine 1.'*) not_made 'hyperfine 1.x has no --env' ;; esac
    both -S -r 2 --env 'A=1 B="x y"' 'echo $A-$B >> n' --setup 'echo $A >> s' --prepare 'echo $A >> p'
    both -S -r 2 --env 'A=1' 'echo $A >> n1' --env 'A=2' 'echo $A >> n2'
    both -S -r 2 -P n 1 2 --env 'A={n}' 'echo $A >> n{n}'
    both -S -r 2 --env 'A' true
    both -N -r 2 --prepare 'echo a > p; echo b >> p' 'test -e p'
    both -S -r 3 -w 1 --prepare 'echo $HYPERFINE_ITERATION >> p' --conclude 'echo $HYPERFINE_ITERATION >> c' true
    for metrics in default time time_cpu memory_peak_resident:MiB,time_wall_clock:ms; do both -r 2 --metrics $metrics true; done
    both -r 2 --metrics nonsense true
}
case_what_hyperfine_writes_is_imported() {
    needs hyperfine python3
    options=()
    # 1.x writes a name in place of the command that has one.
    case $(hyperfine --version) in 'hyperfine 1.'*) ;; *) options=(--env 'A={n} B=x' -n one -n two) ;; esac
    hyperfine "${options[@]}" -r 3 -L n 1,2 'sleep 0.0{n}' --export-json h.json > said 2>&1
    kumite compare --import h.json --runs 6 --json k.json > out
    says out 'h.json: .* there'
    kumite compare --import h.json --runs 8 --metrics memory_peak_resident > out
    says out 'h.json: .* as much peak memory as .* there'
    python3 - <<'Y'
import json
commands = json.load(open("k.json"))["commands"]
assert [c["command"] for c in commands] == ["sleep 0.01", "sleep 0.02"], commands
assert [c["parameters"] for c in commands] == [{"n": "1"}, {"n": "2"}], commands
assert all(len(c["times"]) == 6 for c in commands)
Y
}
