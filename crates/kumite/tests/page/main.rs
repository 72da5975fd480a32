//! The page of `kumite play --serve`, in a browser, as a player uses it. Needs Chromium.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

mod browser;
mod server;

use browser::Browser;
use serde_json::json;
use server::Server;

const PAD: [&str; 9] = ["7", "8", "9", "4", "5", "6", "1", "2", "3"];
/// The label of a button, and the control that it presses.
const BUTTONS: [(&str, &str); 9] = [
    ("lp", "lp"),
    ("mp", "mp"),
    ("hp", "hp"),
    ("lk", "lk"),
    ("mk", "mk"),
    ("hk", "hk"),
    ("pause", "start"),
    ("reload", "select"),
    ("save", "save"),
];

fn opened(arguments: &[&str]) -> (Server, Browser) {
    let server = Server::start(arguments);
    let mut browser = Browser::start();
    browser.open(&server.link);
    (server, browser)
}

fn has_text(id: &str, text: &str) -> String {
    format!("document.getElementById({id:?}).textContent.includes({text:?})")
}

fn plays(state: &str) -> String {
    format!("!document.getElementById('at').hidden && {}", has_text("state", state))
}

fn write(browser: &mut Browser, text: &str) {
    browser.click("#macro");
    browser.value("document.getElementById('macro').select()");
    browser.write(text);
}

#[test]
fn a_macro_is_typed_and_played() {
    let (mut server, mut browser) = opened(&[]);
    write(&mut browser, "# into a fireball\n2,mk 8\n<loop 2>\n3 30\n</loop>\n6,lp 1\n");
    browser.click("#run");
    // One line of the text has several states.
    browser.until(&plays("State 3 of 4, line 4"));
    assert_eq!(browser.value("document.getElementById('keys').textContent"), "↘ (3)");
    assert_eq!(browser.value("document.querySelector('[data-keys=\"3\"]').classList.contains('held')"), true);
    assert_eq!(browser.value("document.getElementById('now').hidden"), false);
    browser.until(&has_text("message", "Played to the end."));
    server.has_played(&["2,mk", "3", "3", "6,lp", "5"]);
    for id in ["p50", "p99", "max"] {
        browser.until(&format!("/^[0-9.]+ (µs|ms)$/.test(document.getElementById({id:?}).textContent)"));
    }
    browser.until("/^[0-9]+$/.test(document.getElementById('missed').textContent)");
    browser.until(&has_text("priority", "5 states"));
    browser.until("document.getElementById('at').hidden && document.getElementById('now').hidden");
    assert_eq!(browser.value("document.querySelectorAll('.held').length"), 0);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn it_is_stopped_in_the_middle() {
    let (mut server, mut browser) = opened(&[]);
    write(&mut browser, "2,mk 60000\n6,lp 1");
    browser.click("#run");
    browser.until(&plays("State 1 of 2"));
    browser.click("#stop");
    browser.until(&has_text("message", "Stopped."));
    server.has_played(&["2,mk", "5"]);
    // The same by keys.
    browser.click("#macro");
    browser.key("Enter", "Enter", 2);
    browser.until(&plays("State 1 of 2"));
    browser.key("Escape", "Escape", 0);
    browser.until(&has_text("message", "Stopped."));
    server.has_played(&["2,mk", "5"]);
    assert_eq!(browser.value("document.getElementById('macro').value"), "2,mk 60000\n6,lp 1");
    // And at once, whether it has begun or not.
    browser.value("(run(), stop(), say(''))");
    browser.until(&has_text("message", "Stopped."));
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn every_button_is_pressed() {
    let (mut server, mut browser) = opened(&[]);
    for (button, pressed) in PAD.map(|digit| (digit, digit)).into_iter().chain(BUTTONS) {
        browser.click(&format!("[data-keys='{button}']"));
        server.has_played(&[pressed, "5"]);
    }
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_keyboard_presses_buttons() {
    let (mut server, mut browser) = opened(&[]);
    for (nth, digit) in PAD.iter().enumerate() {
        // As a keypad sends them that does not lock its numbers, and as the row above the letters does.
        let (key, code) = if nth % 2 == 0 { ("Home", "Numpad") } else { (*digit, "Digit") };
        browser.key(key, &format!("{code}{digit}"), 0);
        server.has_played(&[digit, "5"]);
    }
    for (key, (_, pressed)) in ["u", "i", "o", "J", "K", "L", "p", "r", "s"].into_iter().zip(BUTTONS) {
        browser.key(key, "", 0);
        server.has_played(&[pressed, "5"]);
    }
    // Neither while somebody types, nor with what the browser has a meaning for.
    browser.key("r", "KeyR", 4);
    write(&mut browser, "");
    browser.key("6", "Digit6", 0);
    browser.key("l", "KeyL", 0);
    browser.value("document.activeElement.blur()");
    browser.key("8", "Digit8", 0);
    server.has_played(&["8", "5"]);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn an_error_is_shown_at_its_line_and_the_text_is_kept() {
    let (mut server, mut browser) = opened(&[]);
    let text = "2,mk 8\n# é\n\té,lp 1\n";
    write(&mut browser, text);
    browser.click("#run");
    browser.until(&has_text("error", "Line 3, column 2: expected a key"));
    assert_eq!(browser.value("document.querySelector('#error pre').textContent"), "\té,lp 1\n\t^");
    let strip = "document.getElementById('wrong').getBoundingClientRect().top";
    let line = "document.getElementById('macro').getBoundingClientRect().top + 8 + 2 * 24";
    browser.until(&format!("Math.abs({strip} - ({line})) < 2"));
    assert_eq!(browser.value("document.getElementById('macro').value"), text);
    assert_eq!(browser.value("document.getElementById('macro').selectionStart"), 12);
    assert_eq!(browser.value("document.getElementById('macro').getAttribute('aria-invalid')"), "true");
    let refused = ["Failed to load resource: the server responded with a status of 400 (Bad Request)"];
    assert_eq!(browser.console(), refused, "what the browser itself says of such an answer");
    browser.reload();
    assert_eq!(browser.value("document.getElementById('macro').value"), text);
    write(&mut browser, "lp 1");
    browser.until("document.getElementById('error').hidden && document.getElementById('wrong').hidden");
    browser.click("#run");
    server.has_played(&["lp", "5"]);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn one_macro_plays_at_a_time() {
    let (mut server, mut browser) = opened(&[]);
    write(&mut browser, "2 60000");
    browser.click("#run");
    browser.until(&plays("State 1 of 1"));
    for (selector, remedy) in
        [("#run", "stop it first, or replace it."), ("[data-keys='lp']", "stop it first.")]
    {
        browser.value("say('')");
        browser.click(selector);
        browser.until(&has_text("message", &format!("A macro plays, state 1 of 1: {remedy}")));
    }
    let refused = "Failed to load resource: the server responded with a status of 409 (Conflict)";
    assert_eq!(browser.console(), [refused, refused]);
    write(&mut browser, "6 1");
    browser.click("#replace");
    browser.click("#run");
    browser.until(&has_text("message", "Played to the end."));
    server.has_played(&["2", "5", "6", "5"]);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn it_is_played_with_fingers_on_a_phone() {
    let (mut server, mut browser) = opened(&[]);
    let phone = json!({ "width": 400, "height": 800, "deviceScaleFactor": 2, "mobile": true });
    browser.tell("Emulation.setDeviceMetricsOverride", phone);
    browser.tell("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
    browser.reload();
    browser.until("innerWidth === 400 && document.documentElement.scrollWidth === 400");
    let small = "[...document.querySelectorAll('button, summary, .choice, textarea')].map((e) => [e, e.getBoundingClientRect()])
        .filter(([, box]) => box.width < 44 || box.height < 44).map(([e]) => e.outerHTML)";
    assert_eq!(browser.value(small), json!([]));
    for _ in 0..2 {
        browser.tap("[data-keys='lp']");
        server.has_played(&["lp", "5"]);
    }
    browser.tap("[data-keys='4']");
    server.has_played(&["4", "5"]);
    assert_eq!(browser.value("visualViewport.scale"), 1);
    browser.tap("#macro");
    browser.write("2,hk 60000");
    browser.tap("#run");
    browser.until(&plays("State 1 of 1"));
    browser.tap("#stop");
    server.has_played(&["2,hk", "5"]);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_link_has_the_token_and_the_address_keeps_none() {
    let (mut server, mut browser) = opened(&["--bind", "0.0.0.0"]);
    assert!(server.link.contains("?token="), "{}", server.link);
    browser.until("location.search === '' && document.cookie === ''");
    for _ in 0..2 {
        browser.click("[data-keys='lp']");
        server.has_played(&["lp", "5"]);
        browser.until("getComputedStyle(document.querySelector('.grid')).display === 'grid'");
        browser.reload();
    }
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_server_that_ends_releases_everything_and_the_page_says_so() {
    let (mut server, mut browser) = opened(&[]);
    write(&mut browser, "2 60000");
    browser.click("#run");
    browser.until(&plays("State 1 of 1"));
    server.end();
    server.has_played(&["2", "5"]);
    browser.until(&has_text("message", "kumite does not answer."));
    browser.until("document.getElementById('at').hidden");
}
