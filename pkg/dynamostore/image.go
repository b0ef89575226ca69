package dynamostore

import (
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/record"
)

// Image returns the record of which the table's stream has the new image. The Store must have no namespace. An image that
// is not of a record is an error.
func Image(image map[string]events.DynamoDBAttributeValue) (record.Record, error) {
	i := make(item, len(image))
	for name, v := range image {
		switch v.DataType() {
		case events.DataTypeString:
			i[name] = text(v.String())
		case events.DataTypeNumber:
			i[name] = &types.AttributeValueMemberN{Value: v.Number()}
		case events.DataTypeBinary:
			i[name] = &types.AttributeValueMemberB{Value: v.Binary()}
		}
	}
	r, err := (&Store{}).record(i)
	if err != nil {
		return record.Record{}, err
	}
	if r.Part == "" || r.Sort == "" || r.Rev == "" || r.Kind == "" {
		return record.Record{}, fmt.Errorf("image of %s: it is no record", r.Key)
	}
	return r, nil
}
