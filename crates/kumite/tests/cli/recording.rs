use crate::load::Server;
use crate::place::Place;
use crate::printed::printed;

const RECORDING: &str = r#"{"log": {"entries": [
{"startedDateTime": "2026-11-02T09:00:00.000Z", "time": 2, "request": {"method": "GET", "url": "SERVER/?token=SECRET&page=1",
    "headers": [{"name": "Cookie", "value": "SECRET"}, {"name": "accept", "value": "text/plain"}]}, "response": {"status": 200}},
{"startedDateTime": "2026-11-02T09:00:00.003Z", "time": 2, "request": {"method": "GET", "url": "https://cdn.example/"}, "response": {"status": 200}},
{"startedDateTime": "2026-11-02T09:00:00.004Z", "time": 2, "request": {"method": "POST", "url": "SERVER/login",
    "headers": [{"name": "Cookie", "value": "SECRET"}], "bodySize": 40,
    "postData": {"mimeType": "application/json", "text": "{\"user\": \"ann\", \"password\": \"SECRET\", \"nr\": 1.50}"}}, "response": {"status": 200}},
{"startedDateTime": "2026-11-02T09:00:00.005Z", "time": 0, "request": {"method": "GET", "url": "SERVER/gone"}, "response": {"status": 0}}
]}}"#;

#[test]
fn a_recording_is_sent_without_its_secrets() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    place.write("r.har", &RECORDING.replace("SERVER/", &server.url));
    let load = ["load", &server.url, "--from-har", "r.har", "-c", "2", "-n", "20", "-t", "20s"];
    let result = place.kumite(&[&load[..], &["--json", "-"]].concat()).ended(0).json();
    let requests = result["sessions"][0]["requests"].as_array().unwrap();
    let ok: Vec<_> =
        requests.iter().map(|request| (request["name"].as_str(), request["ok"].as_u64())).collect();
    assert_eq!(ok, [(Some("GET /"), Some(20)), (Some("POST /login"), Some(20))]);
    assert!(!result.to_string().contains("SECRET"));
    printed!(place.kumite(&load).ended(0).notes());
}

#[test]
fn a_recording_is_written_as_a_scenario_and_nothing_is_sent() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let nobody = "http://127.0.0.1:1/";
    place.write("r.har", &RECORDING.replace("SERVER/", nobody));
    let written =
        place.kumite(&["load", nobody, "--from-har", "r.har", "--write-scenario", "s.toml"]).ended(0);
    printed!(written.notes());
    let text = place.read("s.toml");
    assert!(!text.contains("SECRET"), "{text}");
    assert!(text.contains(r#"body = '{"user":"ann","password":"***","nr":1.50}'"#), "{text}");
    // What was written is what --scenario takes, and it goes to any server.
    let load =
        ["load", &server.url, "--scenario", "s.toml", "-c", "1", "-n", "3", "-t", "20s", "--json", "-"];
    let result = place.kumite(&load).ended(0).json();
    assert_eq!((&result["requests"], &result["ok"]), (&6.into(), &6.into()));
}

#[test]
fn a_recording_that_cannot_be_used_is_refused() {
    let place = Place::new("", &[]);
    let mut words = String::new();
    let mut refused = |recording: &[u8], url: &[&str], more: &[&str]| {
        std::fs::write(place.path("r.har"), recording).unwrap();
        let said = place.kumite(&[&["load"], url, &["--from-har", "r.har"], more].concat()).ended(2);
        assert_eq!(said.out, "");
        words += &said.notes();
    };
    let nobody = "http://127.0.0.1:1";
    refused(b"", &[nobody], &[]);
    refused(b"{}", &[nobody], &[]);
    refused(b"{\"log\": {\"entries\": []}}", &[nobody], &[]);
    refused(b"{\"log\": \xff}", &[nobody], &[]);
    let recording = RECORDING.replace("SERVER/", "http://127.0.0.1:1/");
    refused(recording.as_bytes(), &["http://127.0.0.1:2"], &[]);
    refused(recording.replace("09:00", "morning").as_bytes(), &[nobody], &[]);
    let recording = recording.as_bytes();
    refused(recording, &["http://127.0.0.1:1/path"], &[]);
    refused(recording, &[nobody, nobody], &[]);
    refused(recording, &["127.0.0.1"], &["--write-scenario", "-"]);
    refused(recording, &[nobody], &["--write-scenario", "none/s.toml"]);
    refused(recording, &[nobody], &["--scenario", "s.toml"]);
    refused(recording, &[nobody], &["--expect-status", "200"]);
    let mut said = |arguments: &[&str]| words += &place.kumite(arguments).ended(2).notes();
    said(&["load", nobody, "--from-har", "/etc/passwd"]);
    said(&["load", nobody, "--from-har", "none.har"]);
    said(&["load", nobody, "--from-har", "."]);
    said(&["load", nobody, "--write-scenario", "s.toml"]);
    // A file that has no blocks on the disk is as large as any.
    std::fs::File::create(place.path("large.har")).unwrap().set_len(200 << 20).unwrap();
    said(&["load", nobody, "--from-har", "large.har"]);
    printed!(words);
}
