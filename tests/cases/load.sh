# `kumite load`: what curl reads, what other load generators' users have stumbled over, and servers that misbehave.

# serve FILE ARGUMENTS…: a server in Python; it prints its port, which is then in the variable port.
serve() {
    python3 -B "$@" > port.txt &
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
    kumite load http://127.0.0.1:$port/x -n 100 -c 1 > out
    says out 'first failure: closed: the server closed the connection .* ms after the request for http://127.0.0.1'
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
    cat > u.py <<'X'
import socket, threading, time
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
def talk(c):
    try:
        while True: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); time.sleep(0.0005)
    except OSError: pass
while c := s.accept()[0]: threading.Thread(target=talk, args=(c,), daemon=True).start()
X
    serve u.py
    kumite load http://127.0.0.1:$port/ -z 1s -c 5 > out || :
    says out 'malformed'
}
