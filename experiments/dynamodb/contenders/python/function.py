"""A function that fetches an item; its client is made once, before the first call."""

import os

import boto3

# Region and credentials come from the environment.
table = boto3.resource("dynamodb", endpoint_url=os.environ["DB_URL"]).Table("mytest")


def handler(event, context):
    for record in event["Records"]:
        print(record["eventID"], record["eventName"], record["dynamodb"])
    return {"item": table.get_item(Key={"id": "test"})["Item"]}
