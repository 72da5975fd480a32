# Several machines: the way to a host by ssh, jobs of Slurm, and the shards of an array. What stands for ssh and for
# Slurm's commands is a script that runs here.

# ssh_by COMMAND: what stands for ssh does what sshd does, has the user's shell read the script: COMMAND has it in "$script".
ssh_by() {
    of_kumite "a way to hosts"
    mkdir -p bin home
    export PATH=$PWD/bin:$PATH
    printf '#!/bin/bash\nscript=${@: -1}\nexport HOME=%q\nunset XDG_CACHE_HOME XDG_DATA_HOME\n%s\n' "$PWD/home" "$1" > bin/ssh
    chmod +x bin/ssh
}
a_host_answers() {
    # Kumite is sent there first, and is there then.
    for time in first second; do
        timeout 50 kumite doctor --on ssh:n1 > out 2> err || { tail -n 5 err; fail "the $time time it does not answer"; }
        says out "THE SAME ON ALL"
    done
}

# Login shells.
case_10_a_login_shell_may_be_fish() { needs fish; ssh_by 'exec fish -c "$script"'; a_host_answers; }
case_10_a_login_shell_may_be_csh() { needs csh; ssh_by 'exec csh -c "$script"'; a_host_answers; }
case_10_a_login_shell_may_be_tcsh() { needs tcsh; ssh_by 'exec tcsh -c "$script"'; a_host_answers; }
case_10_a_login_shell_may_be_zsh() { needs zsh; ssh_by 'exec zsh -c "$script"'; a_host_answers; }
case_10_a_login_shell_may_be_dash() { needs dash; ssh_by 'exec dash -c "$script"'; a_host_answers; }
case_10_a_login_shell_may_be_bash_for_posix() { ssh_by 'exec bash --posix -c "$script"'; a_host_answers; }
case_10_a_login_shell_may_be_restricted() { ssh_by 'exec bash --restricted -c "$script"'; a_host_answers; }

# What start files print.
case_11_a_start_file_may_set_a_title() {
    ssh_by 'printf "\033]0;a title\007"; exec sh -c "$script"'
    a_host_answers
}
case_11_a_start_file_may_print_what_it_likes() {
    ssh_by 'printf "Welcome!\r\n\n{\"tell\":\"note\"}\nkumite-is-wanted?\n\0\377 no end of a line"; exec sh -c "$script"'
    a_host_answers
}
case_11_a_start_file_may_say_a_lot() {
    ssh_by 'yes a line of a banner | head -n 5000; exec sh -c "$script"'
    a_host_answers
}
case_11_a_host_that_says_nothing_of_ours_is_told_in_its_words() {
    ssh_by 'echo "This account is currently not available."; echo "no entry" >&2; exit 1'
    ends 3 kumite doctor --on ssh:n1
    says err "no entry"
}

# sbatch_says COMMAND: a stand-in that has submitted a job, whatever it says of it. scancel writes down what it is given.
sbatch_says() {
    of_kumite "jobs"
    mkdir bin
    export PATH=$PWD/bin:$PATH
    printf '#!/bin/sh\n%s\n' "$1" > bin/sbatch
    printf '#!/bin/sh\necho "$*" >> %q\n' "$PWD/cancelled" > bin/scancel
    printf '#!/bin/sh\necho "squeue: error: the controller is away" >&2; exit 1\n' > bin/squeue
    chmod +x bin/*
    kumite init x --kind command > /dev/null 2>&1
    ends 3 kumite run x --on slurm --queue-timeout 1s
}
case_12_a_job_is_cancelled_whatever_is_said_before_its_number() {
    sbatch_says 'echo Welcome; echo 7340'
    is 7340 "$(cat cancelled)"
}
case_12_a_job_is_cancelled_whatever_is_said_after_its_number() {
    sbatch_says 'echo 7340; echo "Good luck!"; echo'
    is 7340 "$(cat cancelled)"
}
case_12_a_job_of_a_named_cluster_is_cancelled() {
    sbatch_says 'echo "7340;cluster"; echo words >&2'
    is 7340 "$(cat cancelled)"
}
case_12_a_job_without_a_number_is_cancelled_by_its_name() {
    sbatch_says 'echo "$*" > words; echo Submitted.'
    says words "--job-name=kumite-x-"
    is "--name=$(sed -n 's/.*--job-name=\([^ ]*\).*/\1/p' words)" "$(cat cancelled)"
}
case_12_a_job_of_an_sbatch_that_failed_is_cancelled_by_its_name() {
    sbatch_says 'echo 7340; echo "the connection broke" >&2; exit 1'
    says cancelled "^--name=kumite-x-"
    says err "the connection broke"
}

# array STATUS ID MIN MAX COUNT STEP: `--shard auto` in a task of such an array.
array() {
    of_kumite "shards"
    [ -d x ] || kumite init x --kind command > /dev/null 2>&1
    ends "$1" env SLURM_ARRAY_TASK_ID=$2 SLURM_ARRAY_TASK_MIN=$3 SLURM_ARRAY_TASK_MAX=$4 SLURM_ARRAY_TASK_COUNT=$5 \
        SLURM_ARRAY_TASK_STEP=$6 kumite run x --shard auto --dry-run --db z.db
}
case_15_an_array_without_gaps_is_one_of_shards() {
    array 0 3 1 4 4 1
    says out "^shard 3 of 4"
    array 0 0 0 3 4 1
    says out "^shard 1 of 4"
    array 0 5 1 7 4 2
    says out "^shard 3 of 4"
}
case_15_an_array_with_gaps_or_another_beginning_is_refused() {
    array 2 3 3 5 2 1
    says err "submit it as --array=1-2"
    array 2 3 1 5 3 1
    array 2 3 2 4 3 1
    array 2 9 1 9 3 1
}
