# `kumite function`: what users of AWS's own tools meet.

# serve FILE: a host at $at, with what it says in the file log.
serve() {
    : > log
    kumite function serve "$1" -p 0 > log 2>&1 &
    host=$!
    for _ in $(seq 200); do
        at=$(sed -n 's/^listening on \(.*\)\/$/\1/p' log)
        [ -n "$at" ] && return
        sleep 0.05
    done
    fail "it does not listen: $(cat log)"
}

# shell_function RULES: an event is a command, and its output the answer. $next is more of what curl is told when it asks.
shell_function() {
    cat > f.toml << EOF
[functions.f]
timeout_s = 20
${1:-}
command = '''a=http://\$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation; while :; do
id=\$(curl ${next:-} -sD- -o ev\$\$ \$a/next | tr -d '\r' | sed -n 's/^lambda-runtime-aws-request-id: //Ip')
sh -c "\$(tr -d '"' < ev\$\$)" | curl -so /dev/null --data-binary @- \$a/\$id/response; done'''
EOF
    serve f.toml
    invocations=$at/2015-03-31/functions/f/invocations
}

invoke() { kumite function invoke f -q --endpoint "$at" --payload "$1"; }

# event PAYLOAD: a call that nobody waits for.
event() { is 202 $(curl -so /dev/null -w '%{http_code}' -H 'X-Amz-Invocation-Type: Event' -d "$1" $invocations); }

# told STATUS ERROR CURL…: a refusal as AWS has it.
told() {
    local status=$1 error=$2
    shift 2
    curl -sD head -o body "$@" || :
    says head "^HTTP/1.1 $status"
    says head "^x-amzn-errortype: $error"
    says head '^x-amzn-requestid: '
    says body '"message":"'
}

# Calls that nobody waits for.
case_44_asynchronous_calls_are_made_without_pauses_and_refuse_no_caller() {
    needs curl
    shell_function 'max_instances = 2
cpu = "unlimited"'
    for _ in $(seq 40); do event '"echo x >> n; sleep 0.05"'; done
    is between $(invoke '"echo between"')
    for _ in $(seq 300); do
        [ $(cat n 2> /dev/null | wc -l) = 40 ] && break
        sleep 0.1
    done
    is 40 $(wc -l < n)
    event '"sleep 2"'
    event '"sleep 2"'
    is beside $(invoke '"echo beside"')
}

# What a runtime client does.
case_27_an_event_whose_request_was_given_up_comes_again() {
    needs curl
    next='-m 1'
    shell_function 'max_instances = 1'
    is one $(invoke '"echo one"')
    sleep 2
    is two $(invoke '"echo two"')
}
case_13_an_error_in_the_trailers_of_a_streamed_answer_is_an_error() {
    needs python3
    cat > st.py << 'EOF'
import http.client, os, socket

h, b, n = os.environ["AWS_LAMBDA_RUNTIME_API"], "/2018-06-01/runtime/invocation/", 0
while True:
    c = http.client.HTTPConnection(h)
    c.request("GET", b + "next")
    i = c.getresponse().headers["Lambda-Runtime-Aws-Request-Id"]
    s = socket.create_connection(h.split(":"))
    e, n = "Lambda-Runtime-Function-Error-Type", n + 1
    head = f"POST {b}{i}/response HTTP/1.1\r\nHost: {h}\r\nLambda-Runtime-Function-Response-Mode: streaming\r\n"
    s.sendall(f"{head}Transfer-Encoding: chunked\r\nTrailer: {e}\r\n\r\n4\r\nhalf\r\n".encode())
    if n == 1:
        s.sendall(f"0\r\n{e}: Boom\r\n\r\n".encode())
        s.recv(99)
    s.close()
EOF
    printf '[functions.f]\ncommand = "exec python3 -B st.py"\ntimeout_s = 20\nmax_instances = 1\n' > g.toml
    serve g.toml
    ends 1 invoke '{}'
    says out '"errorType":"Boom"'
    ends 1 invoke '{}'
    says out Runtime.TruncatedResponse
}

# Who may ask.
case_25_a_port_may_be_forwarded() {
    needs curl
    shell_function
    for name in localhost:8000 localhost 127.0.0.1:8000 '[::1]:8000'; do
        is 200 $(curl -so /dev/null -w '%{http_code}' -H "Host: $name" -d '"true"' $invocations)
    done
    told 403 AccessDeniedException -H 'Host: evil.example:8000' -d '"true"' $invocations
    told 403 AccessDeniedException -H 'Host: localhost:8000' -H 'Origin: http://localhost:3000' -d '"true"' $invocations
}

# The environment.
case_16_a_function_has_the_reserved_variables_and_cannot_be_given_them() {
    needs curl
    shell_function
    invoke '"env"' > has
    for name in AWS_SESSION_TOKEN AWS_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION AWS_DEFAULT_REGION \
        AWS_LAMBDA_LOG_GROUP_NAME AWS_LAMBDA_INITIALIZATION_TYPE LAMBDA_TASK_ROOT LAMBDA_RUNTIME_DIR _HANDLER; do
        says has "^$name=."
        printf '[functions.f]\ncommand = "true"\nenv = { %s = "x" }\n' $name > r.toml
        ends 2 kumite function serve r.toml -p 0
        says err "r.toml:3:9: .*\`$name\`"
    done
}

# Errors.
case_26_what_is_too_long_is_refused_as_aws_does() {
    needs curl
    shell_function
    head -c 26000000 /dev/zero | tr '\0' 1 > long
    told 413 RequestTooLargeException --data-binary @long -H Expect: $invocations
    told 413 RequestTooLargeException --data-binary @long -H 'Expect: 100-continue' $invocations
    told 413 RequestTooLargeException --data-binary @long -H Expect: -H 'Transfer-Encoding: chunked' $invocations
    told 413 RequestTooLargeException --data-binary @long -H Expect: -H 'X-Amz-Invocation-Type: Event' $invocations
}
case_50_what_cannot_be_is_refused_as_aws_does() {
    needs curl
    shell_function
    told 400 InvalidParameterValueException -d 1 $at/2015-03-31/functions/%FF/invocations
    told 404 ResourceNotFoundException -d 1 $at/2015-03-31/functions/g/invocations
    told 400 InvalidRequestContentException -d '{' $invocations
    printf '"\xff"' > latin
    told 400 InvalidRequestContentException --data-binary @latin $invocations
    told 400 InvalidRequestContentException -H 'X-Amz-Client-Context: ?' -d 1 $invocations
    ends 2 invoke '{'
    says err InvalidRequestContentException
    ends 2 kumite function invoke g --endpoint "$at"
    says err ResourceNotFoundException
    kill $host
    wait $host
    ends 3 invoke '{}'
}
case_50_a_client_context_may_have_lines() {
    needs curl python3
    cat > c.py << 'EOF'
import os, urllib.request as u

b = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation/"
while True:
    with u.urlopen(b + "next") as r:
        i, c = r.headers["Lambda-Runtime-Aws-Request-Id"], r.headers["Lambda-Runtime-Client-Context"]
    u.urlopen(f"{b}{i}/response", (c or "null").encode())
EOF
    printf '[functions.f]\ncommand = "exec python3 -B c.py"\n' > g.toml
    serve g.toml
    context=$(printf '{\n"custom": {"a": "\xc3\xbc"}\n}\n' | base64 -w 0)
    is '{ "custom": {"a": "\u00fc"} }' \
        "$(curl -s -H "X-Amz-Client-Context: $context" -d 1 $at/2015-03-31/functions/f/invocations)"
}
case_32_the_end_of_a_log_is_whole_characters() {
    needs curl python3 iconv
    shell_function
    for more in '' a aa; do
        write="\"python3 -c 'print(chr(97)+chr(252)*3000)' >&2; echo $more >&2\""
        curl -sD head -o body -H 'X-Amz-Log-Type: Tail' -d "$write" $invocations
        tr -d '\r' < head | sed -n 's/^x-amz-log-result: //p' | base64 -d > tail
        iconv -f utf8 -t utf8 < tail > /dev/null
        [ $(wc -c < tail) -le 4096 ] && [ $(wc -c < tail) -gt 4092 ] || fail "$(wc -c < tail) bytes"
    done
}
