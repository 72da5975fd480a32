//! A function that fetches an item; its client is made once, before the first call.

use aws_lambda_events::event::dynamodb::Event;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::AttributeValue;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    item: Item,
}

#[derive(Serialize)]
struct Item {
    id: String,
    message: String,
}

async fn handle(client: &Client, event: LambdaEvent<Event>) -> Result<Answer, Error> {
    for record in event.payload.records {
        println!("{} {} {:?}", record.event_id, record.event_name, record.change);
    }
    let key = AttributeValue::S("test".to_string());
    let found = client.get_item().table_name("mytest").key("id", key).send().await?;
    let item = found.item.ok_or("the table has no item test")?;
    let text = |name: &str| match item.get(name) {
        Some(AttributeValue::S(text)) => Ok(text.clone()),
        _ => Err(format!("the item has no text {name}")),
    };
    Ok(Answer { item: Item { id: text("id")?, message: text("message")? } })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("{}", env!("VERSIONS"));
        return Ok(());
    }
    // Region and credentials come from the environment.
    let config = aws_config::load_from_env().await;
    let config = aws_sdk_dynamodb::config::Builder::from(&config).endpoint_url(std::env::var("DB_URL")?);
    let client = Client::from_conf(config.build());
    run(service_fn(|event| handle(&client, event))).await
}
