//! Chromium without a window, told what to do by its DevTools protocol through pipes: JSON with a NUL behind each message.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(30);
pub const NAP: Duration = Duration::from_millis(10);

/// With one page.
pub struct Browser {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    asked: u64,
    session: Option<String>,
    /// The messages of the page's console.
    console: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// `CHROMIUM` is another one than the `chromium` on the path.
    pub fn start() -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // The protocol is spoken on file descriptors 3 and 4.
        let command = "exec \"${CHROMIUM:-chromium}\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
            --no-first-run --disable-breakpad --remote-debugging-pipe --user-data-dir=\"$0\" about:blank \
            3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", command])
            .arg(profile.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let mut pipe = BufReader::new(child.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while pipe.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let Ok(said) = serde_json::from_slice(&message) else { return };
                if sender.send(said).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let (asked, session, console) = (0, None, Vec::new());
        let mut browser = Browser { child, to, from, asked, session, console, _profile: profile };
        let page = browser.tell("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.tell("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.tell(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Its answer.
    pub fn tell(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let to = self.to.as_mut().unwrap();
        to.write_all(format!("{message}\0").as_bytes()).unwrap();
        to.flush().unwrap();
        loop {
            let mut said = self.from.recv_timeout(PATIENCE).expect("chromium answers; is it installed?");
            self.listen(&said);
            if said["id"] == self.asked {
                assert!(said["error"].is_null(), "{method}: {}", said["error"]);
                return said["result"].take();
            }
        }
    }

    fn listen(&mut self, said: &Value) {
        let params = &said["params"];
        let text = match said["method"].as_str() {
            Some("Runtime.consoleAPICalled") => params["args"].to_string(),
            Some("Runtime.exceptionThrown") => params["exceptionDetails"].to_string(),
            Some("Log.entryAdded") => params["entry"]["text"].as_str().unwrap_or_default().to_owned(),
            _ => return,
        };
        self.console.push(text);
    }

    /// The messages of the console since it was asked last.
    pub fn console(&mut self) -> Vec<String> {
        // All messages from before this answer have come.
        self.value("0");
        std::mem::take(&mut self.console)
    }

    pub fn open(&mut self, url: &str) {
        self.tell("Page.navigate", json!({ "url": url }));
        self.until("location.href !== 'about:blank' && document.readyState === 'complete'");
    }

    pub fn reload(&mut self) {
        self.value("window.before = true");
        self.tell("Page.reload", json!({}));
        self.until("!window.before && document.readyState === 'complete'");
    }

    /// Of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let mut said = self.tell("Runtime.evaluate", params);
        assert!(said["exceptionDetails"].is_null(), "{expression}: {said}");
        said["result"]["value"].take()
    }

    /// Waits until it is true.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let began = Instant::now();
        while self.value(expression) != true {
            let seen = "document.body?.innerText";
            assert!(began.elapsed() < PATIENCE, "not {expression}, but {}", self.value(seen));
            std::thread::sleep(NAP);
        }
    }

    /// The middle of what a selector finds, scrolled to where it is seen.
    fn middle(&mut self, selector: &str) -> (Value, Value) {
        let at = self.value(&format!(
            "(() => {{ const found = document.querySelector({selector:?}); found.scrollIntoView({{ block: 'center' }}); \
             const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        (at[0].clone(), at[1].clone())
    }

    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.tell("Input.dispatchMouseEvent", params);
        }
    }

    /// With a finger.
    pub fn tap(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.tell(
            "Input.dispatchTouchEvent",
            json!({ "type": "touchStart", "touchPoints": [{ "x": x, "y": y }] }),
        );
        self.tell("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] }));
    }

    /// A key by its name and its place, and what is held with it (2 is Ctrl).
    pub fn key(&mut self, key: &str, code: &str, modifiers: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": key, "code": code, "modifiers": modifiers });
            self.tell("Input.dispatchKeyEvent", params);
        }
    }

    /// Into what has the focus.
    pub fn write(&mut self, text: &str) {
        self.tell("Input.insertText", json!({ "text": text }));
    }
}

impl Drop for Browser {
    /// None is left behind, also where a test fails.
    fn drop(&mut self) {
        drop(self.to.take());
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}
