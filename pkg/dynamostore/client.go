package dynamostore

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// client is what a Store uses of a dynamodb.Client, as functions. To hold the Client itself would make the linker keep
// every method of it in a program that has templates, such as the function of the inbox, and all that hangs on them.
type client struct {
	BatchGetItem       call[dynamodb.BatchGetItemInput, dynamodb.BatchGetItemOutput]
	Query              call[dynamodb.QueryInput, dynamodb.QueryOutput]
	PutItem            call[dynamodb.PutItemInput, dynamodb.PutItemOutput]
	DeleteItem         call[dynamodb.DeleteItemInput, dynamodb.DeleteItemOutput]
	TransactWriteItems call[dynamodb.TransactWriteItemsInput, dynamodb.TransactWriteItemsOutput]
}

type call[In, Out any] func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

func clientOf(c *dynamodb.Client) client {
	return client{
		BatchGetItem: c.BatchGetItem, Query: c.Query,
		PutItem: c.PutItem, DeleteItem: c.DeleteItem, TransactWriteItems: c.TransactWriteItems,
	}
}
