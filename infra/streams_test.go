package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// TestStreamsHaveAnAddressOfTheirOwn: a function URL that hands on what is written as it is written, open to everybody, since
// the hub tells who calls, and the only one that there is.
func TestStreamsHaveAnAddressOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		id, f := s.function(t, endpoint.Stream)
		arn := doc{"Fn::GetAtt": []any{id, "Arn"}}
		url, made := s.Template.one(t, "AWS::Lambda::Url")
		want := doc{"AuthType": "NONE", "InvokeMode": "RESPONSE_STREAM", "TargetFunctionArn": arn}
		if diff := cmp.Diff(want, made.Properties); diff != "" {
			t.Errorf("the URL (-want +got)\n%s", diff)
		}
		address := text(s.Template.Outputs["StreamUrl"].Value)
		if !strings.Contains(address, url) || !strings.Contains(address, s.Stage.Base+`/v1/inbox/stream"`) {
			t.Errorf("streams are at %s", address)
		}
		if f.Properties["FunctionName"] != s.Stage.Stack+"-stream" {
			t.Errorf("the URL leads to %v", f.Properties["FunctionName"])
		}
		open := 0
		for id, p := range s.Template.of("AWS::Lambda::Permission") {
			if p.Properties["Principal"] != "*" {
				continue
			}
			open++
			if diff := cmp.Diff(arn, p.Properties["FunctionName"]); diff != "" {
				t.Errorf("everybody may call by %s (-the function of streams +got)\n%s", id, diff)
			}
			if action := p.Properties["Action"]; action != "lambda:InvokeFunctionUrl" &&
				(action != "lambda:InvokeFunction" || p.Properties["InvokedViaFunctionUrl"] != true) {
				t.Errorf("everybody may do %v by %s, and not through the URL alone", action, id)
			}
		}
		if open == 0 {
			t.Error("nobody may call the URL")
		}
	})
}
