package dynamostore

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTable makes the table of a Store and waits until it is there. It is for tests and the emulator, and the one
// place that says how the table must look; in production the stack makes it.
func CreateTable(ctx context.Context, client *dynamodb.Client, table string) error {
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(table),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   keySchema(attrPart, attrSort),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			keysOnly(attrTag(1), attrTag(1), attrPlace(1)),
			keysOnly(attrTag(2), attrTag(2), attrPlace(2)),
			keysOnly(attrDue, attrShard, attrDue),
		},
	}
	for _, name := range []string{
		attrPart, attrSort, attrTag(1), attrPlace(1), attrTag(2), attrPlace(2), attrShard, attrDue,
	} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := client.CreateTable(ctx, in); err != nil {
		return fmt.Errorf("create table %s: %w", table, err)
	}
	there := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = time.Second })
	if err := there.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, time.Minute); err != nil {
		return fmt.Errorf("create table %s: %w", table, err)
	}
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attrErase), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("create table %s: time to live: %w", table, err)
	}
	return nil
}

func keySchema(hash, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
	}
}

// keysOnly is an index without bodies: whoever finds an entry reads the record, and writes cost little.
func keysOnly(name, hash, sort string) types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{
		IndexName:  aws.String(name),
		KeySchema:  keySchema(hash, sort),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}
}
