import { DynamoDB } from "@aws-sdk/client-dynamodb";

// Region and credentials come from the environment.
const client = new DynamoDB({ endpoint: process.env.DB_URL });

export async function handler(event) {
  for (const { eventID, eventName, dynamodb } of event.Records) {
    console.log(eventID, eventName, JSON.stringify(dynamodb));
  }
  const { Item } = await client.getItem({
    TableName: "mytest",
    Key: { id: { S: "test" } },
  });
  return { item: { id: Item.id.S, message: Item.message.S } };
}
