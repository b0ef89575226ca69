package main

import (
	"net/http"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// addAPI makes the HTTP API without its routes, and with it the hub's address. An API that is made anew has another
// address, which signatures and cookies are bound to, so its id is pinned.
//
// A base path is what a domain is mapped by, or the name of the API's stage. Routes know nothing of either; functions are
// told the path with it, and take it away.
func (s *stack) addAPI() {
	s.api = awsapigatewayv2.NewHttpApi(s.Stack, jsii.String("Api"), &awsapigatewayv2.HttpApiProps{
		ApiName:                   jsii.String(s.stage.Stack),
		CreateDefaultStage:        jsii.Bool(false),
		DisableExecuteApiEndpoint: jsii.Bool(s.stage.Domain != nil), // one address is enough
	})
	pin(s.api.Node().DefaultChild().(awsapigatewayv2.CfnApi), "Api")
	s.baseURL = s.address()
	name := "$default" // which has no path
	if s.stage.Domain == nil && s.stage.Base != "" {
		name = s.stage.Base[1:]
	}
	stage := awsapigatewayv2.NewHttpStage(s.Stack, jsii.String("ApiStage"), &awsapigatewayv2.HttpStageProps{
		HttpApi:       s.api,
		StageName:     jsii.String(name),
		AutoDeploy:    jsii.Bool(true),
		DomainMapping: s.domain(),
		Throttle: &awsapigatewayv2.ThrottleSettings{
			RateLimit: jsii.Number(s.stage.RequestsPerSecond), BurstLimit: jsii.Number(s.stage.Burst),
		},
	})
	log := s.addLog("ApiLog", "/aws/vendedlogs/"+*s.named("access"))
	stage.Node().DefaultChild().(awsapigatewayv2.CfnStage).SetAccessLogSettings(
		&awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			DestinationArn: log.LogGroupArn(), Format: jsii.String(accessFormat()),
		})
}

func (s *stack) address() *string {
	if d := s.stage.Domain; d != nil {
		return jsii.String("https://" + d.Name + s.stage.Base)
	}
	if e := s.stage.Emulator; e != nil {
		return awscdk.Fn_Join(jsii.String(""), &[]*string{
			jsii.String("http://"), s.api.ApiId(), jsii.String(".execute-api.localhost:" + e.Port + s.stage.Base)})
	}
	parts := []*string{
		jsii.String("https://"), s.api.ApiId(), jsii.String(".execute-api."), s.Region(), jsii.String("."), s.UrlSuffix()}
	if s.stage.Base != "" {
		parts = append(parts, jsii.String(s.stage.Base))
	}
	return awscdk.Fn_Join(jsii.String(""), &parts)
}

// domain makes the name of the operator's own, if there is one, for the stage of the API.
func (s *stack) domain() *awsapigatewayv2.DomainMappingOptions {
	d := s.stage.Domain
	if d == nil {
		return nil
	}
	s.domainName = awsapigatewayv2.NewDomainName(s.Stack, jsii.String("Domain"), &awsapigatewayv2.DomainNameProps{
		DomainName: jsii.String(d.Name),
		Certificate: awscertificatemanager.Certificate_FromCertificateArn(
			s.Stack, jsii.String("Certificate"), jsii.String(d.Certificate)),
		SecurityPolicy: awsapigatewayv2.SecurityPolicy_TLS_1_2,
	})
	mapping := &awsapigatewayv2.DomainMappingOptions{DomainName: s.domainName}
	if s.stage.Base != "" {
		mapping.MappingKey = jsii.String(s.stage.Base[1:])
	}
	return mapping
}

// accessFormat is a line of the access log: the route in place of the path, for a path may hold the token of a link, and
// nothing of the caller.
func accessFormat() string {
	var fields []string
	for _, f := range []struct{ name, variable string }{
		{"time", "requestTime"},
		{"request", "requestId"},
		{"route", "routeKey"},
		{"status", "status"},
		{"bytes", "responseLength"},
		{"ms", "responseLatency"},
		{"function_status", "integrationStatus"},
		{"function_request", "integration.requestId"},
		{"function_ms", "integrationLatency"},
		{"error", "error.responseType"},
	} {
		fields = append(fields, `"`+f.name+`":"$context.`+f.variable+`"`)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// addRoutes leads each endpoint's requests to its function, and all others to the pages.
func (s *stack) addRoutes() {
	for _, e := range endpoint.Routed() {
		s.api.AddRoutes(&awsapigatewayv2.AddRoutesOptions{
			Methods:     methods(e),
			Path:        jsii.String(routePath(e)),
			Integration: s.integration(e.Name),
		})
	}
	awsapigatewayv2.NewHttpRoute(s.Stack, jsii.String("Everything"), &awsapigatewayv2.HttpRouteProps{
		HttpApi: s.api, RouteKey: awsapigatewayv2.HttpRouteKey_DEFAULT(), Integration: s.integration(endpoint.Inbox),
	})
}

// methods are an endpoint's own and, where that is GET, HEAD too: it asks for the same without the body.
func methods(e endpoint.Endpoint) *[]awsapigatewayv2.HttpMethod {
	all := []awsapigatewayv2.HttpMethod{awsapigatewayv2.HttpMethod(e.Method)}
	if e.Method == http.MethodGet {
		all = append(all, awsapigatewayv2.HttpMethod_HEAD)
	}
	return &all
}

func (s *stack) integration(name endpoint.Name) awsapigatewayv2.HttpRouteIntegration {
	return awsapigatewayv2integrations.NewHttpLambdaIntegration(
		jsii.String(identifier(name)+"Integration"), s.functions[name], nil)
}

// routePath returns an endpoint's path as a route of an HTTP API. The API decodes a path before it looks for a route, so
// that an agent's id may seem to be several segments, which only a last variable takes: what follows the id is left to
// the function. No two endpoints of one method have an agent's id.
func routePath(e endpoint.Endpoint) string {
	if before, _, ok := strings.Cut(e.Path, "{agent}"); ok {
		return before + "{agent+}"
	}
	return e.Path
}
