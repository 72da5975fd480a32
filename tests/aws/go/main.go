// A function on AWS's runtime client for Go, which streams what it can read.
package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do string `json:"do"`
}

func main() {
	lambda.Start(handle)
}

func handle(ctx context.Context, event event) (any, error) {
	switch event.Do {
	case "error":
		return nil, errors.New("as told")
	case "panic":
		panic("as told")
	case "stream":
		return io.MultiReader(strings.NewReader("one "), strings.NewReader("two")), nil
	case "midway":
		return io.MultiReader(strings.NewReader("half"), failing{}), nil
	}
	found, _ := lambdacontext.FromContext(ctx)
	return map[string]any{"id": found.AwsRequestID, "arn": found.InvokedFunctionArn}, nil
}

// A reader that fails, as one does whose connection breaks.
type failing struct{}

func (failing) Read([]byte) (int, error) {
	return 0, errors.New("as told")
}
