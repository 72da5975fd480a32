//! Asks a backend many times, one after another or all at once, with reqwest on tokio.

use std::collections::BTreeMap;
use std::env;

use kumite_kit::{Answer, Failure, Job};
use reqwest::Client;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

fn main() {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("{}", env!("VERSIONS"));
        return;
    }
    let url = env::var("BACKEND_URL").expect("BACKEND_URL is not set");
    let runtime = Builder::new_multi_thread().enable_all().build().expect("tokio's runtime");
    let client = Client::builder().no_proxy().build().expect("reqwest's client");
    let backend = Backend { client, url };
    kumite_kit::serve("rust-tokio", |job| runtime.block_on(fan_outs(backend.clone(), job.clone())));
}

async fn fan_outs(backend: Backend, job: Job) -> Result<Answer, Failure> {
    let requests = job.number("requests")?;
    let parallel = match job.params["form"].as_str() {
        Some("sequential") => false,
        Some("parallel") => true,
        _ => return Err("params.form is neither sequential nor parallel".into()),
    };
    let mut fan_outs = JoinSet::new();
    for _ in 0..job.number("jobs")? {
        let backend = backend.clone();
        fan_outs.spawn(async move {
            if parallel { backend.parallel(requests).await } else { backend.sequential(requests).await }
        });
    }
    let mut bodies = Vec::new();
    while let Some(fan_out) = fan_outs.join_next().await {
        bodies.push(fan_out??);
    }
    let after = || Ok(bodies.into_iter().map(counted).collect::<Vec<_>>().into());
    Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
}

/// Clones share the client and its connections.
#[derive(Clone)]
struct Backend {
    client: Client,
    url: String,
}

impl Backend {
    async fn sequential(self, requests: u64) -> Result<Vec<String>, Failure> {
        let mut bodies = Vec::new();
        for _ in 0..requests {
            bodies.push(self.clone().get().await?);
        }
        Ok(bodies)
    }

    async fn parallel(self, requests: u64) -> Result<Vec<String>, Failure> {
        let mut gets: JoinSet<_> = (0..requests).map(|_| self.clone().get()).collect();
        let mut bodies = Vec::new();
        while let Some(body) = gets.join_next().await {
            bodies.push(body??);
        }
        Ok(bodies)
    }

    async fn get(self) -> Result<String, Failure> {
        let response = self.client.get(&self.url).send().await?;
        if response.status() != 200 {
            return Err(format!("{} answers {}", self.url, response.status()).into());
        }
        Ok(response.text().await?)
    }
}

fn counted(bodies: Vec<String>) -> serde_json::Value {
    let mut counts = BTreeMap::<String, u32>::new();
    for body in bodies {
        *counts.entry(body).or_default() += 1;
    }
    serde_json::json!(counts)
}
