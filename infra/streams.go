package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// closeTimeout is how much longer than its hold a stream may run: it begins cold, and ends with what it is just pushing.
const closeTimeout = 15 * time.Second

// addStreams makes the function of streams and its address, and returns where a stream is asked for. The HTTP API collects an
// answer before it passes it on and gives it 30 s, so this one function is reached by a URL of its own. The hub itself tells
// who calls there as everywhere.
func (s *stack) addStreams() *string {
	e := endpoint.Of(endpoint.Stream)
	f := s.addFunction(function{
		name: e.Name, timeout: s.stage.Hub.StreamMaxHold + closeTimeout, reserved: s.stage.HeldStreams,
	}, e.Access)
	url := f.AddFunctionUrl(&awslambda.FunctionUrlOptions{
		AuthType: awslambda.FunctionUrlAuthType_NONE, InvokeMode: awslambda.InvokeMode_RESPONSE_STREAM,
	})
	s.streamURL = awscdk.Fn_Join(jsii.String(""), &[]*string{s.hostOf(url), jsii.String(s.stage.Base + e.Path)})
	return s.streamURL
}

// hostOf returns the address of a function URL, without the slash at its end.
func (s *stack) hostOf(url awslambda.FunctionUrl) *string {
	host := awscdk.Fn_Select(jsii.Number(2), awscdk.Fn_Split(jsii.String("/"), url.Url(), nil))
	if e := s.stage.Emulator; e != nil { // which serves it at a name of this machine
		id := awscdk.Fn_Select(jsii.Number(0), awscdk.Fn_Split(jsii.String("."), host, nil))
		return awscdk.Fn_Join(jsii.String(""), &[]*string{
			jsii.String("http://"), id, jsii.String(".lambda-url."), s.Region(), jsii.String(".localhost:" + e.Port)})
	}
	return awscdk.Fn_Join(jsii.String(""), &[]*string{jsii.String("https://"), host})
}
