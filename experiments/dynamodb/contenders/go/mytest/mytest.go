// Package mytest is what the function and the child process have in common.
package mytest

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is a row of the table.
type Item struct {
	ID      string `dynamodbav:"id" json:"id"`
	Message string `dynamodbav:"message" json:"message"`
}

// Print writes a line for each record.
func Print(out io.Writer, event events.DynamoDBEvent) {
	for _, record := range event.Records {
		fmt.Fprintln(out, record.EventID, record.EventName, record.Change)
	}
}

// NewClient takes region and credentials from the environment, and the endpoint from DB_URL.
func NewClient(ctx context.Context) (*dynamodb.Client, error) {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return dynamodb.NewFromConfig(settings, func(options *dynamodb.Options) {
		options.BaseEndpoint = aws.String(os.Getenv("DB_URL"))
	}), nil
}

// Get fetches the item "test".
func Get(ctx context.Context, client *dynamodb.Client) (Item, error) {
	found, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String("mytest"),
		Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "test"}},
	})
	var item Item
	if err == nil {
		err = attributevalue.UnmarshalMap(found.Item, &item)
	}
	return item, err
}

// AnswerVersion ends the program with its version if it was asked for that.
func AnswerVersion() {
	if len(os.Args) < 2 || os.Args[1] != "--version" {
		return
	}
	line := runtime.Version()
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, library := range build.Deps {
			switch library.Path {
			case "github.com/aws/aws-lambda-go", "github.com/aws/aws-sdk-go-v2/service/dynamodb":
				line += ", " + library.Path + " " + library.Version
			}
		}
	}
	fmt.Println(line)
	os.Exit(0)
}
