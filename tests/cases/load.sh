# `kumite load`: what curl reads, what other load generators' users have stumbled over, and servers that misbehave.

# serve FILE ARGUMENTS…: a server in Python; it prints its port, which is then in the variable port.
serve() {
    # Made by us, so that it is there when it is first read.
    : > port.txt
    python3 -B "$@" >> port.txt &
    for _ in $(seq 100); do
        port=$(head -n 1 port.txt)
        [ -z "$port" ] || return 0
        sleep 0.1
    done
    fail "no server"
}

# raw ANSWER [close]: says the same whatever it is asked.
raw() {
    needs python3
    cat > raw.py <<'X'
import socket, sys
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
while c := s.accept()[0]:
    try:
        while c.recv(65536):
            c.sendall(sys.argv[1].encode().decode("unicode_escape").encode("latin-1"))
            if sys.argv[2:]: break
    except OSError: pass
    c.close()
X
    serve raw.py "$@"
}
H='HTTP/1.1 200 OK\r\nContent-Length: 2\r\n'

case_14_a_failure_without_an_answer_has_words() {
    raw "$H\r\nok" close
    ends 1 kumite load http://127.0.0.1:$port/x -n 100 -c 1
    says out 'first failure: closed: the server closed the connection .* ms after the request for http://127.0.0.1'
}
case_29_check_finds_a_server_that_closes_what_it_promised_to_keep() {
    needs python3
    kumite init x --kind http > log
    kumite check x --only event-loop > log
    sed -i 's/^\( *\)await writer.drain()$/&\n\1writer.close()\n\1break/' x/contenders/event-loop/server.py
    ends 1 kumite check x --only event-loop
    says out 'it closes connections that it promised to keep: [1-4] of 5 requests'
}
case_7_all_addresses_of_a_name_are_tried() {
    needs unshare python3
    printf '127.0.0.1 localhost\n::1 localhost\n' > hosts
    unshare -Urmn true 2> err || not_made "no namespaces here"
    cat > six.py <<'X'
import http.server, socket
class S(http.server.ThreadingHTTPServer): address_family = socket.AF_INET6
S(("::1", 18204), http.server.SimpleHTTPRequestHandler).serve_forever()
X
    unshare -Urmn sh -c 'ip link set lo up; mount --bind hosts /etc/hosts; python3 six.py 2> log & s=$!
        for i in 1 2 3 4 5 6 7 8 9; do sleep 1; kumite load http://localhost:18204/ -n 5 -c 1 > out 2> err && break; done; kill $s'
    says out '5 ok, 0 failed'
    says err '::1'
}
case_19_a_want_of_ports_is_no_failure_of_the_server() {
    needs unshare
    unshare -Urn true 2> err || not_made "no namespaces here"
    ends 3 unshare -Urn sh -c 'ip link set lo up; echo 40000 40049 > /proc/sys/net/ipv4/ip_local_port_range
        kumite stub -p 18205 > log 2>&1 & s=$!; sleep 1; kumite load http://127.0.0.1:18205/ -c 100 -z 1s; r=$?; kill $s; exit $r'
    says err 'no local port left'
}
case_20_an_answer_that_has_come_is_read_before_an_error_of_the_send() {
    needs python3
    cat > e.py <<'X'
import socket
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
while c := s.accept()[0]:
    c.recv(999); c.sendall(b"HTTP/1.1 413 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"); c.close()
X
    serve e.py
    head -c 8000000 /dev/zero > b
    for io in io_uring epoll; do
        kumite load http://127.0.0.1:$port/ -D b -n 20 -c 2 -t 20s --expect-status 413 --io $io > out || { cat out; fail "$io"; }
        says out '20 ok, 0 failed'
    done
}
case_9_insecure_looks_at_no_certificate() {
    needs openssl
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout k -out r 2> log
    openssl x509 -req -in r -signkey k -out c 2> log
    openssl s_server -accept 18202 -cert c -key k -www > log 2>&1 &
    sleep 2
    kumite load https://localhost:18202/ --insecure -n 5 -c 1 -t 20s > out
    says out '5 ok, 0 failed'
    says_not out insecure
}
case_qa_15_what_openssl_makes_is_trusted_if_it_is_named() {
    needs openssl
    openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout k -out c 2> log
    openssl s_server -accept 18206 -cert c -key k -www > log 2>&1 &
    sleep 2
    kumite load https://localhost:18206/ --ca c -n 5 -c 1 -t 20s > out
    says out '5 ok, 0 failed'
    ends 3 timeout 8 kumite load https://localhost:18206/ -z 20s -c 1
}
case_17_as_many_headers_as_curl_reads() {
    raw "$H$(printf 'X-%s: v\\r\\n' $(seq 150))\r\nok"
    kumite load http://127.0.0.1:$port/ -n 9 -c 1 > out
    says out '9 ok, 0 failed'
}
case_18_a_name_that_is_none_is_passed_over() {
    raw "${H}X-L: $(printf %0300d 0)\r\nBad Name: v\r\n\r\nok"
    kumite load http://127.0.0.1:$port/ -n 9 -c 1 > out
    says out '9 ok, 0 failed'
}
case_18_the_line_that_breaks_the_rules_is_shown() {
    raw "${H}X-L: $(printf %0300d 0)\r\nNo colon\r\n\r\nok"
    ends 1 kumite load http://127.0.0.1:$port/ -n 9 -c 1
    says out 'here: "No colon"'
}
case_21_absolute_times_are_refused() {
    echo 1700000000 > t
    ends 2 timeout 3 kumite load http://127.0.0.1:1/ --replay t
    says err 'since 1970'
}
case_qa_38_answers_that_nobody_asked_for_are_malformed() {
    needs python3
    # It answers each request fifty times at once.
    cat > u.py <<'X'
import socket, threading
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
def talk(c):
    try:
        while c.recv(65536): c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" * 50)
    except OSError: pass
while c := s.accept()[0]: threading.Thread(target=talk, args=(c,), daemon=True).start()
X
    serve u.py
    for connections in 1 5; do
        kumite load http://127.0.0.1:$port/ -n 500 -c $connections > out || :
        says out '[1-9][0-9]* malformed'
    done
}

# http2 TURNS: a server of HTTP/2 that does what the Python function turn(c, stream) does when a request comes.
http2() {
    needs python3
    { cat <<'X'; cat; echo 'while c := s.accept()[0]: threading.Thread(target=talk, args=(c,), daemon=True).start()'; } > http2.py
import socket, struct, threading, time
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
def frame(c, kind, flags, stream, payload=b""):
    c.sendall(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)
def streams(c, most): frame(c, 4, 0, 0, struct.pack(">HI", 3, most))
def answer(c, stream): frame(c, 1, 4, stream, b"\x88"); frame(c, 0, 1, stream, b"ok")
def exactly(c, n):
    got = b""
    while len(got) < n:
        more = c.recv(n - len(got))
        if not more: raise OSError
        got += more
    return got
def talk(c):
    try:
        exactly(c, 24); streams(c, 100)
        while True:
            head = exactly(c, 9); exactly(c, int.from_bytes(head[:3], "big"))
            if head[3] == 4 and not head[4] & 1: frame(c, 4, 1, 0)
            if head[3] == 1: turn(c, int.from_bytes(head[5:9], "big"))
    except OSError: pass
X
    serve http2.py
}
case_qa_31_a_connection_goes_on_when_the_server_allows_requests_again() {
    http2 <<'X'
def turn(c, stream):
    if stream % 20 == 19:
        streams(c, 0); answer(c, stream); time.sleep(0.3); streams(c, 100)
    else: answer(c, stream)
X
    for io in io_uring epoll; do
        timeout 20 kumite load http://127.0.0.1:$port/ --http2 -n 60 -c 2 --io $io -t 5s > out
        says out '60 ok, 0 failed'
        timeout 20 kumite load http://127.0.0.1:$port/ --http2 -R 100 -z 1s -c 2 --io $io -t 5s > out
        says out '100 ok, 0 failed'
    done
}
case_qa_31_a_server_that_allows_nothing_any_more_is_a_time_out() {
    http2 <<'X'
def turn(c, stream): streams(c, 0); answer(c, stream)
X
    timeout 20 kumite load http://127.0.0.1:$port/ --http2 -n 6 -c 2 -t 300ms > out || :
    says out '[1-9] timeout'
    says out 'first failure: timeout: the server allowed no request'
}
case_qa_46_a_flood_of_pings_is_not_kept() {
    http2 <<'X'
def turn(c, stream):
    while True: c.sendall((b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + b"x" * 8) * 4000)
X
    ulimit -v 3000000
    timeout 20 kumite load http://127.0.0.1:$port/ --http2 -z 2s -c 8 -t 1s > out || :
    says out 'malformed'
    says out 'PING'
}
case_qa_8_a_name_that_stands_for_nothing_is_refused() {
    ends 2 kumite load 'http://127.0.0.1:1/{{id}}' -n 1
    says err 'is unknown: there are'
    ends 2 kumite load http://127.0.0.1:1/ -H 'x: {{idd}}' -n 1
    ends 2 kumite load http://127.0.0.1:1/ -d '{"a": "{{id}}"}' -n 1
}
case_qa_19_secrets_of_headers_are_not_kept() {
    raw "$H\r\nok"
    kumite load http://127.0.0.1:$port/ -n 9 -c 1 -H 'authorization: Bearer s3cr3t' -H 'Cookie: a=s3cr3t' --json - > out
    says_not out s3cr3t
    says out 'authorization: \*\*\*'
}
case_qa_51_what_makes_no_sense_is_refused_before_the_load() {
    ends 2 kumite load http://127.0.0.1:1/ -n 1 --unix-socket "$(printf %0200d 0)"
    says err '107 bytes'
    ends 2 kumite load http://127.0.0.1:1/ http://127.0.0.1:1/x -n 1 --weights 0,0
    says err 'all weights are 0'
}
