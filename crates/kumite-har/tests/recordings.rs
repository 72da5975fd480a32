//! Recordings of browsers, and what is made of them.

use kumite_har::{Origin, Scenario, scenario};

const FIREFOX: &str = include_str!("firefox.har");
const CHROMIUM: &str = include_str!("chromium.har");

fn made(recording: &str, server: &str) -> Scenario {
    scenario(recording.as_bytes(), &Origin::of(server).unwrap()).unwrap()
}

fn refused(recording: &[u8]) -> String {
    scenario(recording, &Origin::of("http://a").unwrap()).unwrap_err().to_string()
}

fn secrets(made: &Scenario) -> Vec<String> {
    made.secrets.iter().map(|(secret, requests)| format!("{secret}: {requests}")).collect()
}

/// A recording of one entry, whose request has these members besides the method and the URL.
fn one(url: &str, more: &str) -> String {
    format!(
        r#"{{"log":{{"entries":[{{"startedDateTime":"2026-01-01T00:00:00Z","time":1,"request":{{"method":"POST","url":"{url}"{more}}},
        "response":{{"status":200}}}}]}}}}"#
    )
}

#[test]
fn a_recording_of_firefox_is_a_session() {
    let made = made(FIREFOX, "https://SHOP.example:443/");
    assert_eq!(
        made.toml,
        r#"[[session]]
name = "recorded"

[[session.request]]
name = "GET /"
method = "GET"
path = "/?lang=de"

[session.request.answer]
status = 200

[session.request.headers]
accept = "text/html"
user-agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"

[[session.request]]
name = "POST /login"
method = "POST"
path = "/login"
think_ms = 2500
body = "user=ann&password=***&remember=1"

[session.request.answer]
status = 302

[session.request.headers]
content-type = "application/x-www-form-urlencoded"
referer = "https://shop.example/?access_token=***"
"#
    );
    assert_eq!((made.requests, made.pauses_cut, made.elsewhere), (2, 0, 1));
    let not_taken: Vec<String> = made.not_taken.iter().map(|(why, n)| format!("{n} {why}")).collect();
    assert_eq!(not_taken, ["1 without an answer"]);
    assert_eq!(secrets(&made), ["header cookie: 1", "query access_token: 1", "body password: 1"]);
}

#[test]
fn a_recording_of_chromium_is_a_session() {
    let made = made(CHROMIUM, "http://127.0.0.1:3000");
    assert_eq!(
        made.toml,
        r#"[[session]]
name = "recorded"

[[session.request]]
name = "GET /app"
method = "GET"
path = "/app?api_key=***&page=2"

[session.request.answer]
status = 200

[session.request.headers]
accept = "text/html, */*"

[[session.request]]
name = "POST /api/order"
method = "POST"
path = "/api/order"
think_ms = 10000
body = '{"item":12345678901234567890123,"price":1.0,"note":"{{"{{"}}x}}","accessToken":"***","pin":0}'

[session.request.answer]
status = 201

[session.request.headers]
content-type = "application/json"

[[session.request]]
name = "GET /app (2)"
method = "GET"
path = "/app?page=3"

[session.request.answer]
status = 304
"#
    );
    assert_eq!((made.requests, made.pauses_cut, made.elsewhere), (3, 1, 2));
    assert_eq!(
        secrets(&made),
        [
            "header authorization: 1",
            "header x-api-key: 1",
            "query api_key: 1",
            "body /accessToken: 1",
            "body /pin: 1"
        ]
    );
}

#[test]
fn no_secret_of_a_recording_is_in_its_scenario() {
    for (recording, server) in [(FIREFOX, "https://shop.example"), (CHROMIUM, "http://127.0.0.1:3000")] {
        assert!(recording.contains("SECRET"));
        let made = made(recording, server);
        assert!(!made.toml.contains("SECRET") && !format!("{:?}", made.secrets).contains("SECRET"));
    }
    for url in ["http://u:SECRET@a/", "http://a/x;jsessionid=SECRET/y?token=SECRET", "http://a/#token=SECRET"]
    {
        assert!(!made(&one(url, ""), "http://a").toml.contains("SECRET"), "{url}");
    }
}

#[test]
fn a_body_that_is_not_known_is_not_sent_as_another() {
    for more in [
        r#","bodySize":9"#,
        r#","postData":{"mimeType":"image/png","text":"\ufffdPNG"}"#,
        r#","postData":{"mimeType":"image/png","text":"//8=","encoding":"base64"}"#,
        r#","bodySize":9,"postData":{"mimeType":"text/plain"}"#,
        r#","postData":{"mimeType":"application/xml","text":"<password>x</password>"}"#,
    ] {
        let said = refused(one("http://a/", more).as_bytes());
        assert!(
            said.starts_with("it has no request to http://a that can be taken; not taken: 1 whose body"),
            "{said}"
        );
    }
    let base64 = r#","postData":{"mimeType":"text/plain","text":"aMOp","encoding":"base64"}"#;
    assert!(made(&one("http://a/", base64), "http://a").toml.contains("body = \"hé\""));
}

#[test]
fn what_is_no_recording_is_refused_with_its_place_and_without_its_words() {
    let save = "the network panel of a browser saves a recording (\"Save all as HAR\")";
    for (recording, expected) in [
        (&b"root:x:0:0\n"[..], format!("1:1: what stands here is no JSON: {save}")),
        (b"", format!("1:1: what stands here is no JSON: {save}")),
        (b"{\"log\":\n{\"a\": \xff", format!("2:7: what stands here is not UTF-8: {save}")),
        (b"{}", format!("it has no list log.entries: {save}")),
        (b"{\"log\":{}}", format!("it has no list log.entries: {save}")),
        (
            b"{\"log\":{\"entries\":[]}}",
            "log.entries is empty: open the network panel first, and then the page".to_owned(),
        ),
        (b"[1]", format!("1:2: what ends here is not as in HAR 1.2: {save}")),
        (b"{\"log\":{\"entries\":[{}]}}", format!("1:21: what ends here is not as in HAR 1.2: {save}")),
    ] {
        assert_eq!(refused(recording), expected, "{}", String::from_utf8_lossy(recording));
    }
    for (recording, expected) in [
        (
            one("http://b/", ""),
            "it has no request to http://a, but to http://b (1): give the server that you mean as the URL",
        ),
        (
            one("data:x", ""),
            "it has no request to http://a, and none to another server: open the network panel first, and then the page",
        ),
        (
            one("http://a/ b", ""),
            "log.entries[0].request.url: this is no URL: take the entry out of the file",
        ),
        (
            one("http://a/", r#","headers":[{"name":"x","value":"a\nb"}]"#),
            "log.entries[0].request.headers: one has a control character in its value: take it out of the file",
        ),
        (
            one("http://a/", "").replace("2026-01-01T", "yesterday "),
            "log.entries[0].startedDateTime: this is no time of ISO 8601 with its offset, such as 2026-01-31T12:00:00.000Z: take the entry out of the file",
        ),
        (
            one("http://a/", "").replace("200", "1e300"),
            "log.entries[0].response.status: this is no status from 100 to 599: take the entry out of the file",
        ),
    ] {
        assert_eq!(refused(recording.as_bytes()), expected);
    }
    assert!(refused(&vec![b' '; kumite_har::LARGEST + 1]).starts_with("it has more than 100 MiB: "));
    let mut many = one("http://a/", "");
    let entry = many[many.find("{\"started").unwrap()..many.len() - 3].to_owned();
    many = format!(r#"{{"log":{{"entries":[{}]}}}}"#, vec![entry; 1_001].join(","));
    assert!(
        refused(many.as_bytes())
            .starts_with("it has 1001 requests to http://a, and a session has at most 1000")
    );
}
