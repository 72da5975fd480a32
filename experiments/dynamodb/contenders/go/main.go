// Package main is a function that fetches an item; its client is made once, before the first call.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"kumite/dynamodb/mytest"
)

type answer struct {
	Item mytest.Item `json:"item"`
}

type function struct {
	client *dynamodb.Client
}

func (f function) handle(ctx context.Context, event events.DynamoDBEvent) (answer, error) {
	mytest.Print(os.Stdout, event)
	item, err := mytest.Get(ctx, f.client)
	return answer{item}, err
}

func main() {
	mytest.AnswerVersion()
	client, err := mytest.NewClient(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(function{client}.handle)
}
