package dynamostore_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/record"
)

// images returns the images of the event in testdata, which is as Lambda hands it over.
func images(t *testing.T) []map[string]events.DynamoDBAttributeValue {
	t.Helper()
	text, err := os.ReadFile("testdata/stream.json")
	if err != nil {
		t.Fatal(err)
	}
	var e events.DynamoDBEvent
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	var all []map[string]events.DynamoDBAttributeValue
	for _, r := range e.Records {
		all = append(all, r.Change.NewImage)
	}
	return all
}

func TestAnImageOfTheStreamIsARecord(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	want := []record.Record{
		{
			Key: record.Key{Part: "m#7j5c77ff4k6vxzkc667ny7jm7r", Sort: "state"},
			Rev: "MK4W3ZB2TQXHYA6LJ7N5CRDV2E", Kind: "state", Body: []byte(`{"id":"msg_7j5c77ff4k6vxzkc667ny7jm7r"}`),
			Tags: [2]record.Tag{{Name: "open#abcdefghijkl", Order: record.DueOrder(noon)}},
			Due:  noon.Add(62*time.Minute + time.Millisecond), Erase: noon.AddDate(0, 0, 90),
		},
		{
			Key: record.Key{Part: "k#hub", Sort: "wrap"}, Rev: "C2D5UQ4NHE3YXJ7ZB6TLK2WMFA", Kind: "key", Body: []byte{255, 0, 128},
		},
	}
	for i, image := range images(t) {
		got, err := dynamostore.Image(image)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("record %d (-want +got)\n%s", i, diff)
		}
	}
}

func TestAnImageThatIsNoRecord(t *testing.T) {
	t.Parallel()
	change := func(name string, v events.DynamoDBAttributeValue) map[string]events.DynamoDBAttributeValue {
		image := maps.Clone(images(t)[0])
		image[name] = v
		return image
	}
	for name, image := range map[string]map[string]events.DynamoDBAttributeValue{
		"nothing":              {},
		"another kind of key":  change("pk", events.NewNumberAttribute("1")),
		"no revision":          change("rev", events.NewNullAttribute()),
		"no kind":              change("kind", events.NewStringSetAttribute([]string{"state"})),
		"a due time of words":  change("due", events.NewStringAttribute("soon")),
		"a garbage time of no": change("erase", events.NewNumberAttribute("1e99")),
	} {
		if r, err := dynamostore.Image(image); err == nil {
			t.Errorf("%s is read as %+v", name, r)
		}
	}
}
