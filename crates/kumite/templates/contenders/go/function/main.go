// A function for AWS Lambda.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() {
	lambda.Start(handle)
}

func handle(event map[string]any) (map[string]any, error) {
	return map[string]any{"not written yet": event}, nil
}
