import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";

// Region and credentials come from the environment.
const client = DynamoDBDocumentClient.from(
  new DynamoDBClient({ endpoint: process.env.DB_URL }),
);

export async function handler(event) {
  for (const { eventID, eventName, dynamodb } of event.Records) {
    console.log(eventID, eventName, JSON.stringify(dynamodb));
  }
  const { Item } = await client.send(
    new GetCommand({ TableName: "mytest", Key: { id: "test" } }),
  );
  return { item: Item };
}
