package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// checkByNag has every resource looked at by the rules of AwsSolutions when the app is synthesised. What it finds goes to
// a report beside the template, which a test reads; what is accepted all over the stack stands here, the rest beside
// what it is about.
func (s *stack) checkByNag() {
	awscdk.Aspects_Of(s.Stack).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
		Verbose: jsii.Bool(true), Reports: jsii.Bool(true),
	}), nil)
	cdknag.NagSuppressions_AddStackSuppressions(s.Stack, accepted("AwsSolutions-APIG4",
		"The hub itself tells who calls, by tokens and sessions that it issues: an authorizer would be a second place "+
			"that decides, at a price for each request."), nil)
}

// accept says why a finding of a rule is none, for one resource and what belongs to it.
func accept(on constructs.IConstruct, rule, reason string, appliesTo ...any) {
	cdknag.NagSuppressions_AddResourceSuppressions(on, accepted(rule, reason, appliesTo...), jsii.Bool(true))
}

func accepted(rule, reason string, appliesTo ...any) *[]*cdknag.NagPackSuppression {
	one := &cdknag.NagPackSuppression{Id: jsii.String(rule), Reason: jsii.String(reason)}
	if len(appliesTo) > 0 {
		one.AppliesTo = &appliesTo
	}
	return &[]*cdknag.NagPackSuppression{one}
}
