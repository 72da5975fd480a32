# What a case says with. Each function ends the case as wrong if what it is about is not so.

# Ends with the case what it has started.
trap 'kill $(jobs -p) 2> /dev/null || :' EXIT

# compare ARGUMENTS…: `kumite compare`, or what stands in its place.
compare() { $COMPARE "$@"; }

# For a case that only kumite can be right in.
of_kumite() { [ "$COMPARE" = 'kumite compare' ] || not_made "only kumite has $*"; }

# needs PROGRAM…: which the machine may lack.
needs() { for program; do type -P "$program" > /dev/null || not_made "no $program here"; done; }

not_made() { echo "$*"; exit 77; }

# Status 77 is a case that is not made. (bash -e ends at any other command that fails.)
fail() { echo "$*"; exit 1; }

# ends STATUS COMMAND…: its output is in the files out and err.
ends() {
    local expected=$1 status=0
    shift
    "$@" > out 2> err || status=$?
    [ $status = "$expected" ] || { tail -n 5 out err; fail "status $status, and not $expected: $*"; }
}

# says FILE PATTERN, says_not FILE PATTERN
says() { grep -qe "$2" "$1" || { tail -n 5 "$1"; fail "$1 does not say '$2'"; }; }
says_not() { if grep -qe "$2" "$1"; then tail -n 5 "$1"; fail "$1 says '$2'"; fi; }

# is EXPECTED WORDS…: the words are what is to be.
is() {
    local expected=$1
    shift
    [ "$*" = "$expected" ] || fail "it is '$*', and not '$expected'"
}

# Runs a line of sh at a terminal of its own, for 20 seconds at most; what is said there is in out.
at_a_terminal() {
    needs script
    timeout -k 1 20 script -qefc "$1" /dev/null > out 2>&1 < /dev/null
}

# lives PID: it is there, and no zombie.
lives() { grep -qs . "/proc/$1/cmdline"; }
