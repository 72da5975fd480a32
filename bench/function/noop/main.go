// A function that does nothing, on AWS's own runtime client.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() {
	lambda.Start(func() {})
}
