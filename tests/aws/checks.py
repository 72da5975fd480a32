"""What callers and runtime clients of AWS get from the function host: each check is a row of docs/function-host.md."""

import base64
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import time
import traceback

import boto3
import botocore.config
import botocore.exceptions

KUMITE, CLIENTS, *WANTED = sys.argv[1:]
ARN = "arn:aws:lambda:us-east-1:123456789012:function:f"
WAIT_S = 60
FUNCTIONS = f"""
[functions.f]
command = "exec {CLIENTS}/python -B -m awslambdaric function.handler"
handler = "function.handler"
memory_mb = 512
cpu = "unlimited"
timeout_s = 30
max_instances = 2
env = {{ OWN = "value" }}

[functions.one]
command = "exec {CLIENTS}/python -B -m awslambdaric function.handler"
memory_mb = 256
cpu = "unlimited"
timeout_s = 2
max_instances = 1

[functions.go]
command = "exec ./function"
cpu = "unlimited"
timeout_s = 30
max_instances = 1
"""


class Host:
    def __init__(self):
        pathlib.Path("functions.toml").write_text(FUNCTIONS)
        command = [KUMITE, "function", "serve", "functions.toml", "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().removeprefix("listening on ").strip()
        self.reader = concurrent.futures.ThreadPoolExecutor(1)
        self.reader.submit(self.process.stdout.read)
        config = botocore.config.Config(
            retries={"total_max_attempts": 1}, read_timeout=WAIT_S
        )
        # Any credentials do.
        self.client = boto3.client(
            "lambda",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
            config=config,
        )

    def invoke(self, name="f", event=None, **more):
        payload = more.pop("Payload", None) or json.dumps(event or {})
        return self.client.invoke(FunctionName=name, Payload=payload, **more)

    def answer(self, name="f", event=None, **more):
        return json.loads(self.invoke(name, event, **more)["Payload"].read())

    def error(self, kind, **asked):
        try:
            self.client.invoke(**asked)
        except botocore.exceptions.ClientError as error:
            found = error.response
            assert found["Error"]["Code"] == kind, found
            modelled = getattr(self.client.exceptions, kind, None)
            assert modelled is None or isinstance(error, modelled), (
                "it is the exception of the service model"
            )
            assert (
                found["Error"]["Message"] and found["ResponseMetadata"]["RequestId"]
            ), found
            return found
        raise AssertionError(f"no {kind}")

    def aws(self, *words, status=0):
        environment = {
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        command = [f"{CLIENTS}/aws", "--endpoint-url", self.url, "lambda", *words]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            timeout=WAIT_S,
        )
        assert (done.returncode == 0) == (status == 0), (
            done.returncode,
            done.stdout,
            done.stderr,
        )
        return done.stderr if status else done.stdout

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.reader.shutdown()


def until(what):
    end = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


def lines(file):
    return (
        pathlib.Path(file).read_text().splitlines()
        if pathlib.Path(file).exists()
        else []
    )


# Callers.


def check_request_response(host):
    found = host.invoke(event={"a": [1, "ü"]})
    assert (found["StatusCode"], found["ExecutedVersion"]) == (200, "$LATEST"), found
    assert (
        json.loads(found["Payload"].read()) == {"a": [1, "ü"]}
        and "FunctionError" not in found
    )
    assert re.fullmatch(r"[0-9a-f-]{36}", found["ResponseMetadata"]["RequestId"]), found


def check_event(host):
    found = host.invoke(InvocationType="Event")
    assert found["StatusCode"] == 202 and found["Payload"].read() == b"", found


def check_dry_run(host):
    found = host.invoke(InvocationType="DryRun")
    assert found["StatusCode"] == 204 and found["Payload"].read() == b"", found


def check_no_payload(host):
    assert json.loads(host.client.invoke(FunctionName="f")["Payload"].read()) == {}


def check_names(host):
    for name in ["f", "f:$LATEST", "123456789012:function:f", ARN, f"{ARN}:$LATEST"]:
        assert host.answer(name) == {}, name
    assert host.answer("f", Qualifier="$LATEST") == {}


def check_unknown_functions(host):
    for asked in [
        {"FunctionName": "nobody"},
        {"FunctionName": "f:7"},
        {"FunctionName": "f", "Qualifier": "7"},
    ]:
        found = host.error("ResourceNotFoundException", **asked)
        assert found["ResponseMetadata"]["HTTPStatusCode"] == 404, found
        assert found["Error"]["Message"].startswith("Function not found: "), found


def check_payloads_that_are_no_json(host):
    for payload in [b"{", b"'a'", b'"\xff"', b" "]:
        found = host.error(
            "InvalidRequestContentException", FunctionName="f", Payload=payload
        )
        assert found["ResponseMetadata"]["HTTPStatusCode"] == 400, found


def check_longest_payloads(host):
    def text(length):
        return b'"' + b"x" * (length - 2) + b'"'

    assert len(host.answer(Payload=text(6 << 20))) == (6 << 20) - 2
    host.error(
        "RequestTooLargeException", FunctionName="f", Payload=text((6 << 20) + 1)
    )
    event = {"FunctionName": "f", "InvocationType": "Event"}
    assert host.client.invoke(**event, Payload=text(1 << 20))["StatusCode"] == 202
    host.error("RequestTooLargeException", **event, Payload=text((1 << 20) + 1))
    found = host.error(
        "RequestTooLargeException", FunctionName="f", Payload=b"1" * 40_000_000
    )
    assert found["ResponseMetadata"]["HTTPStatusCode"] == 413, found


def check_throttling(host):
    def call(_):
        try:
            return host.invoke("one", {"do": "sleep", "s": 1})["StatusCode"]
        except host.client.exceptions.TooManyRequestsException as error:
            return error.response["Reason"]

    host.answer("one")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = set(pool.map(call, range(2)))
    assert found == {200, "ReservedFunctionConcurrentInvocationLimitExceeded"}, found


def check_the_tail_of_a_log(host):
    for event, most in [({}, 1024), ({"do": "log", "letters": 3000}, 4096)]:
        found = host.invoke(event=event, LogType="Tail")
        log = base64.b64decode(found["LogResult"], validate=True)
        assert len(log) <= most, len(log)
        id = found["ResponseMetadata"]["RequestId"]
        report = f"END RequestId: {id}\nREPORT RequestId: {id}\tDuration: "
        assert report in log.decode(), log.decode()
    assert "LogResult" not in host.invoke()


def check_client_context(host):
    def encoded(text):
        return base64.b64encode(text.encode()).decode()

    for text in ['{"custom": {"a": "1"}}', '{\n  "custom": {"a": "ü"}\n}\n']:
        found = host.answer("f", {"do": "context"}, ClientContext=encoded(text))
        assert found["custom"] == json.loads(text)["custom"], found
    for text in [
        encoded("{"),
        encoded("[1]"),
        "?",
        encoded(json.dumps({"custom": {"a": "x" * 3000}})),
    ]:
        host.error(
            "InvalidRequestContentException", FunctionName="f", ClientContext=text
        )
    event = {"do": "note", "file": "contexts"}
    host.invoke("f", event, ClientContext=encoded('{"custom": {"a": "1"}}'))
    host.invoke(
        "f",
        event,
        ClientContext=encoded('{"custom": {"a": "1"}}'),
        InvocationType="Event",
    )
    until(lambda: len(lines("contexts")) == 2)
    assert lines("contexts") == ["{'a': '1'}", "None"], "an event comes without"


def check_what_the_host_does_not_have(host):
    client = host.client
    for ask in [
        lambda: client.invoke_with_response_stream(FunctionName="f"),
        lambda: client.invoke_async(FunctionName="f", InvokeArgs=b"{}"),
        lambda: client.list_functions(),
        lambda: client.get_function(FunctionName="f"),
    ]:
        try:
            ask()
        except botocore.exceptions.ClientError as error:
            assert error.response["Error"]["Code"] == "UnknownOperationException", (
                error.response
            )
            assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 404
        else:
            raise AssertionError("the host has it")


def check_asynchronous_calls(host):
    event = {"do": "note", "file": "events"}
    for _ in range(50):
        assert host.invoke("f", event, InvocationType="Event")["StatusCode"] == 202
    while len(lines("events")) < 50:
        assert host.invoke()["StatusCode"] == 200, "no caller is refused"
    assert len(lines("events")) == 50


# Functions.


def check_errors_of_functions(host):
    found = host.invoke(event={"do": "raise"})
    document = json.loads(found["Payload"].read())
    assert (found["StatusCode"], found["FunctionError"]) == (200, "Unhandled"), found
    assert (document["errorType"], document["errorMessage"]) == (
        "ValueError",
        "as told",
    ), document
    assert "stackTrace" in document


def check_time_outs(host):
    before = host.answer("one", {"do": "instance"})["pid"]
    found = host.invoke("one", {"do": "sleep", "s": 10})
    document = json.loads(found["Payload"].read())
    assert (
        found["FunctionError"] == "Unhandled"
        and document["errorType"] == "Sandbox.Timedout"
    ), document
    assert document["errorMessage"].endswith("Task timed out after 2.00 seconds"), (
        document
    )
    assert host.answer("one", {"do": "instance"})["pid"] != before


def check_a_process_that_ends(host):
    found = host.invoke(event={"do": "exit"})
    document = json.loads(found["Payload"].read())
    assert (
        found["FunctionError"] == "Unhandled"
        and document["errorType"] == "Runtime.ExitError"
    ), document
    assert document["errorMessage"].endswith(
        "Runtime exited with error: exit status 3"
    ), document


def check_longest_answers(host):
    assert len(host.answer(event={"do": "answer", "bytes": 6_291_554})) == 6_291_554
    document = host.answer(event={"do": "answer", "bytes": 6_291_555})
    assert document["errorType"] == "Function.ResponseSizeTooLarge", document


def check_context(host):
    found = host.invoke(event={"do": "context"})
    context = json.loads(found["Payload"].read())
    assert context["aws_request_id"] == found["ResponseMetadata"]["RequestId"], context
    assert (context["function_name"], context["function_version"]) == (
        "f",
        "$LATEST",
    ), context
    assert (context["invoked_function_arn"], context["memory_limit_in_mb"]) == (
        ARN,
        "512",
    ), context
    assert (context["log_group_name"], context["custom"]) == ("/aws/lambda/f", None), (
        context
    )
    assert (
        "[$LATEST]" in context["log_stream_name"] and 0 < context["left_ms"] <= 30_000
    ), context
    assert re.fullmatch(
        r"Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0",
        context["trace"],
    ), context


def check_environment(host):
    found = host.answer(event={"do": "environment"})
    expected = {
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_LAMBDA_FUNCTION_NAME": "f",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/f",
        "AWS_ACCESS_KEY_ID": "dummy",
        "AWS_SECRET_ACCESS_KEY": "dummy",
        "AWS_SESSION_TOKEN": "dummy",
        "_HANDLER": "function.handler",
        "OWN": "value",
    }
    assert {name: found.get(name) for name in expected} == expected
    for name in [
        "AWS_LAMBDA_LOG_STREAM_NAME",
        "AWS_LAMBDA_RUNTIME_API",
        "LAMBDA_TASK_ROOT",
        "LAMBDA_RUNTIME_DIR",
    ]:
        assert found.get(name), name
    assert "AWS_EXECUTION_ENV" not in found


def check_an_instance_serves_again_and_stands_still_between(host):
    first = host.answer("one", {"do": "instance"})
    time.sleep(1)
    second = host.answer("one", {"do": "instance"})
    assert first["pid"] == second["pid"]
    # A hundred, if it went on.
    assert second["ticks"] - first["ticks"] < 50, (first, second)


def check_calls_at_once_have_an_instance_each(host):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        asked = [
            pool.submit(host.answer, "f", {"do": "instance", "s": 1}) for _ in range(2)
        ]
    assert len({one.result()["pid"] for one in asked}) == 2


# The runtime client for Go.


def check_go(host):
    found = host.invoke("go")
    answer = json.loads(found["Payload"].read())
    assert answer == {
        "id": found["ResponseMetadata"]["RequestId"],
        "arn": ARN[:-1] + "go",
    }, answer
    error = host.answer("go", {"do": "error"})
    assert (error["errorType"], error["errorMessage"]) == ("errorString", "as told"), (
        error
    )
    panic = host.invoke("go", {"do": "panic"})
    assert (
        panic["FunctionError"] == "Unhandled" and b"as told" in panic["Payload"].read()
    )
    assert host.answer("go")["id"], "another instance"


def check_streamed_answers(host):
    found = host.invoke("go", {"do": "stream"})
    assert "FunctionError" not in found and found["Payload"].read() == b"one two", found
    found = host.invoke("go", {"do": "midway"})
    document = json.loads(found["Payload"].read())
    assert found["FunctionError"] == "Unhandled", (found, document)
    assert (document["errorType"], document["errorMessage"]) == (
        "errorString",
        "as told",
    ), document


# The command line.


def check_command_line(host):
    base = ["invoke", "--function-name", "f"]
    told = json.loads(
        host.aws(*base, "--payload", '{"a": 1}', "--log-type", "Tail", "answer")
    )
    assert (told["StatusCode"], told["ExecutedVersion"]) == (200, "$LATEST"), told
    assert "REPORT RequestId: " in base64.b64decode(told["LogResult"]).decode()
    assert json.loads(pathlib.Path("answer").read_text()) == {"a": 1}
    told = json.loads(host.aws(*base, "--invocation-type", "Event", "answer"))
    assert told["StatusCode"] == 202, told
    told = json.loads(host.aws(*base, "--payload", '{"do": "raise"}', "answer"))
    assert told["FunctionError"] == "Unhandled", told
    for words, kind in [
        (
            ["invoke", "--function-name", "nobody", "answer"],
            "ResourceNotFoundException",
        ),
        ([*base, "--payload", "{", "answer"], "InvalidRequestContentException"),
    ]:
        assert f"({kind})" in host.aws(*words, status=1), kind


def main():
    checks = {
        name: check for name, check in globals().items() if name.startswith("check_")
    }
    unknown = set(WANTED) - set(checks)
    assert not unknown, f"no check is called {', '.join(unknown)}"
    host, wrong = Host(), 0
    try:
        for name, check in checks.items():
            if WANTED and name not in WANTED:
                continue
            try:
                check(host)
                print(f"right  {name}", flush=True)
            except Exception:
                wrong += 1
                print(f"wrong  {name}\n{traceback.format_exc()}", flush=True)
    finally:
        host.end()
    sys.exit(1 if wrong else 0)


main()
