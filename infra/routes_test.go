package main

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// routes returns the name of the function behind each route.
func (s *synthesis) routes(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for id, r := range s.Template.of("AWS::ApiGatewayV2::Route") {
		joined, _ := at(r.Properties, "Target", "Fn::Join", 1, 1).(doc)
		integration := s.Template.Resources[refers(joined)]
		function := s.Template.Resources[refers(integration.Properties["IntegrationUri"])]
		name, ok := function.Properties["FunctionName"].(string)
		if !ok || integration.Properties["PayloadFormatVersion"] != "2.0" {
			t.Errorf("%s leads to no function: %s", id, text(r))
		}
		key, _ := r.Properties["RouteKey"].(string)
		found[key] = strings.TrimPrefix(name, s.Stage.Stack+"-")
	}
	return found
}

func TestEveryEndpointHasItsRoute(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		want := map[string]string{"$default": string(endpoint.Inbox)}
		for _, e := range endpoint.Routed() {
			path := e.Path
			if before, _, ok := strings.Cut(path, "{agent}"); ok {
				path = before + "{agent+}"
			}
			want[e.Method+" "+path] = string(e.Name)
			if e.Method == "GET" {
				want["HEAD "+path] = string(e.Name)
			}
		}
		if diff := cmp.Diff(want, s.routes(t)); diff != "" {
			t.Errorf("routes (-table +stack)\n%s", diff)
		}
	})
}

// TestFilledPathsFindTheirRoute follows paths as an HTTP API does, which decodes them first.
func TestFilledPathsFindTheirRoute(t *testing.T) {
	s := made(t, production)
	routes := s.routes(t)
	variable := regexp.MustCompile(`\\\{[a-z]+(\\\+)?\\\}`)
	for _, id := range []string{"msg_1", "deploybot/dev-team", "a b#c", "x/rotate"} {
		for _, e := range endpoint.Routed() {
			if strings.Contains(e.Path, "{id}") && id != "msg_1" {
				continue
			}
			path := e.Path
			if strings.Contains(path, "{") {
				path = e.Fill(id)
			}
			path, err := url.PathUnescape(path)
			if err != nil {
				t.Fatal(err)
			}
			var hits []string
			for key, name := range routes {
				method, route, _ := strings.Cut(key, " ")
				pattern := variable.ReplaceAllStringFunc(regexp.QuoteMeta(route), func(v string) string {
					return map[bool]string{true: ".+", false: "[^/]+"}[strings.Contains(v, "+")]
				})
				if method == e.Method && regexp.MustCompile("^"+pattern+"$").MatchString(path) {
					hits = append(hits, name)
				}
			}
			if diff := cmp.Diff([]string{string(e.Name)}, hits); diff != "" {
				t.Errorf("%s %s (-want +got)\n%s", e.Method, path, diff)
			}
		}
	}
}

func TestTheAccessLogHasNeitherPathsNorCallers(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		_, stage := s.Template.one(t, "AWS::ApiGatewayV2::Stage")
		format, _ := at(stage.Properties, "AccessLogSettings", "Format").(string)
		for _, never := range []string{"path", "identity", "authorizer", "domainName", "sourceIp", "userAgent", "error.message"} {
			if strings.Contains(format, "$context."+never) {
				t.Errorf("the access log has $context.%s: %s", never, format)
			}
		}
		if !strings.Contains(format, `"$context.routeKey"`) {
			t.Errorf("the access log has no route: %s", format)
		}
		settings, _ := at(stage.Properties, "DefaultRouteSettings").(doc)
		want := doc{
			"ThrottlingRateLimit": float64(s.Stage.RequestsPerSecond), "ThrottlingBurstLimit": float64(s.Stage.Burst),
		}
		if diff := cmp.Diff(want, settings); diff != "" {
			t.Errorf("throttling (-want +got)\n%s", diff)
		}
	})
}

func TestADomainIsTheOnlyAddress(t *testing.T) {
	t.Parallel()
	s := made(t, everything)
	if got := s.Template.Outputs["Url"].Value; got != "https://mash.example.com/tools/mash" {
		t.Errorf("Url = %v", got)
	}
	if s.Template.Resources["Api"].Properties["DisableExecuteApiEndpoint"] != true {
		t.Error("the API is reached under its own name, too")
	}
	id, domain := s.Template.one(t, "AWS::ApiGatewayV2::DomainName")
	if at(domain.Properties, "DomainNameConfigurations", 0, "SecurityPolicy") != "TLS_1_2" {
		t.Errorf("the domain takes older TLS: %s", text(domain.Properties))
	}
	_, mapping := s.Template.one(t, "AWS::ApiGatewayV2::ApiMapping")
	if got := mapping.Properties["ApiMappingKey"]; got != "tools/mash" {
		t.Errorf("the domain is mapped by %v", got)
	}
	_, stage := s.Template.one(t, "AWS::ApiGatewayV2::Stage")
	if got := stage.Properties["StageName"]; got != "$default" { // whose name is in no path
		t.Errorf("the stage is %v", got)
	}
	for output, attribute := range map[string]string{
		"DomainTarget": "RegionalDomainName", "DomainTargetZone": "RegionalHostedZoneId",
	} {
		want := doc{"Fn::GetAtt": []any{id, attribute}}
		if diff := cmp.Diff(want, s.Template.Outputs[output].Value); diff != "" {
			t.Errorf("the output %s (-want +got)\n%s", output, diff)
		}
		if got, ok := made(t, production).Template.Outputs[output]; ok {
			t.Errorf("without a domain, there is the output %s: %v", output, got)
		}
	}
	_, f := s.function(t, endpoint.Submit)
	if got := at(f.Properties, "Environment", "Variables", "MASH_BASE_URL"); got != "https://mash.example.com/tools/mash" {
		t.Errorf("MASH_BASE_URL = %v", got)
	}
}

func TestWithoutADomainTheBasePathIsTheStage(t *testing.T) {
	t.Parallel()
	s := made(t, test)
	_, stage := s.Template.one(t, "AWS::ApiGatewayV2::Stage")
	if got := stage.Properties["StageName"]; got != "mash" {
		t.Errorf("the stage is %v", got)
	}
	if got := text(s.Template.Outputs["Url"].Value); !strings.HasSuffix(got, `:4566/mash"]]}`) {
		t.Errorf("Url = %s", got)
	}
	_, f := s.function(t, endpoint.Submit)
	if diff := cmp.Diff(s.Template.Outputs["Url"].Value, at(f.Properties, "Environment", "Variables", "MASH_BASE_URL")); diff != "" {
		t.Errorf("MASH_BASE_URL (-Url +got)\n%s", diff)
	}
}
