package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/dynamostore"
)

// TestUpgradesNeverReplaceTheTableOrTheKeys holds fast what CloudFormation goes by: another logical id, or another value
// of what cannot be changed, and it would make these anew.
func TestUpgradesNeverReplaceTheTableOrTheKeys(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		for id, kind := range map[string]string{
			"Table": "AWS::DynamoDB::Table", "TableKey": "AWS::KMS::Key", "HubKey": "AWS::KMS::Key",
		} {
			r := s.Template.Resources[id]
			if r.Type != kind || r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
				t.Errorf("%s is %s, %s when deleted and %s when replaced; want %s and Retain twice",
					id, r.Type, r.DeletionPolicy, r.UpdateReplacePolicy, kind)
			}
			if kind == "AWS::KMS::Key" && r.Properties["EnableKeyRotation"] != true {
				t.Errorf("%s does not rotate", id)
			}
		}
		for kind, want := range map[string]int{"AWS::DynamoDB::Table": 1, "AWS::KMS::Key": 2} {
			if got := len(s.Template.of(kind)); got != want {
				t.Errorf("%d resources of type %s, want %d", got, kind, want)
			}
		}
		table := s.Template.Resources["Table"].Properties
		if table["DeletionProtectionEnabled"] != true || table["TableName"] != nil {
			t.Errorf("the table may be deleted, or has a name of its own, which no other may have while it is kept: %s", text(table))
		}
		if at(table, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
			t.Error("the table cannot be restored to a point in time")
		}
		if sse := at(table, "SSESpecification"); at(sse, "SSEEnabled") != true || refers(at(sse, "KMSMasterKeyId")) != "TableKey" {
			t.Errorf("the table is encrypted by %s, want under TableKey", text(sse))
		}
		if at(table, "StreamSpecification", "StreamViewType") != "NEW_IMAGE" {
			t.Error("the stream does not bring new images")
		}
		if _, ok := s.Template.Resources["Api"]; !ok {
			t.Error("the API has not the logical id Api: its address would change")
		}
	})
}

// TestOnlyAnEmulatedStackIsDestroyedInOneDeed looks into what the CDK's command goes by, since protection is no part of a
// template.
func TestOnlyAnEmulatedStackIsDestroyedInOneDeed(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		file, err := os.ReadFile(filepath.Join(s.Folder, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var manifest doc
		if err := json.Unmarshal(file, &manifest); err != nil {
			t.Fatal(err)
		}
		protected, _ := at(manifest, "artifacts", s.Stage.Stack, "properties", "terminationProtection").(bool)
		if want := s.Stage.Emulator == nil; protected != want {
			t.Errorf("%s is protected from termination: %t, want %t", s.Stage.Stack, protected, want)
		}
	})
}

// heard takes the first request of a client and answers nothing.
type heard struct{ body []byte }

func (h *heard) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	h.body = body
	return nil, errors.Join(errors.New("heard enough"), err)
}

// TestTheTableHasTheFormOfTheStore compares it with what dynamostore asks for when it makes one.
func TestTheTableHasTheFormOfTheStore(t *testing.T) {
	s := made(t, production)
	h := &heard{}
	client := dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("x", "x", ""),
		HTTPClient: &http.Client{Transport: h}, RetryMaxAttempts: 1,
	})
	if err := dynamostore.CreateTable(t.Context(), client, "t"); err == nil {
		t.Fatal("CreateTable got an answer")
	}
	var want doc
	if err := json.NewDecoder(bytes.NewReader(h.body)).Decode(&want); err != nil {
		t.Fatal(err)
	}
	delete(want, "TableName")
	got := doc{}
	for name := range want {
		got[name] = s.Template.Resources["Table"].Properties[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table (-dynamostore +stack)\n%s", diff)
	}
	ttl := s.Template.Resources["Table"].Properties["TimeToLiveSpecification"]
	if diff := cmp.Diff(doc{"AttributeName": "erase", "Enabled": true}, ttl); diff != "" {
		t.Errorf("time to live (-want +got)\n%s", diff)
	}
}
