package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cf "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// The stack of the empty function, and where its code lies.
const (
	stackName = "MashBenchEmpty"
	bucket    = "mash-bench-empty"
)

// template is that of an HTTP API whose every request goes to the empty function.
const template = `{"Resources":{
"Role":{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[
 {"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"lambda.amazonaws.com"}}]}}},
"Function":{"Type":"AWS::Lambda::Function","Properties":{"Runtime":"provided.al2023","Handler":"bootstrap","MemorySize":512,
 "Code":{"S3Bucket":"` + bucket + `","S3Key":"%s"},"Role":{"Fn::GetAtt":["Role","Arn"]}}},
"Api":{"Type":"AWS::ApiGatewayV2::Api","Properties":{"Name":"` + stackName + `","ProtocolType":"HTTP"}},
"Integration":{"Type":"AWS::ApiGatewayV2::Integration","Properties":{"ApiId":{"Ref":"Api"},"IntegrationType":"AWS_PROXY",
 "IntegrationUri":{"Fn::GetAtt":["Function","Arn"]},"PayloadFormatVersion":"2.0"}},
"Route":{"Type":"AWS::ApiGatewayV2::Route","Properties":{"ApiId":{"Ref":"Api"},"RouteKey":"$default",
 "Target":{"Fn::Sub":"integrations/${Integration}"}}},
"Stage":{"Type":"AWS::ApiGatewayV2::Stage","Properties":{"ApiId":{"Ref":"Api"},"StageName":"$default","AutoDeploy":true}},
"Permission":{"Type":"AWS::Lambda::Permission","Properties":{"Action":"lambda:InvokeFunction",
 "FunctionName":{"Ref":"Function"},"Principal":"apigateway.amazonaws.com"}}},
"Outputs":{"Api":{"Value":{"Ref":"Api"}}}}`

// deployEmpty puts the empty function behind an HTTP API of its own and returns its URL.
func (d deployed) deployEmpty(ctx context.Context, zip string) (string, error) {
	code, err := os.ReadFile(zip) //nolint:gosec // as asked
	if err != nil {
		return "", err
	}
	endpoint, err := url.Parse(d.Endpoint)
	if err != nil {
		return "", err
	}
	config := aws.Config{
		Region: d.Region, BaseEndpoint: &d.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
	key := fmt.Sprintf("%d.zip", time.Now().UnixNano())
	if err := upload(ctx, s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true }), key, code); err != nil {
		return "", err
	}
	api, err := deploy(ctx, cloudformation.NewFromConfig(config), fmt.Sprintf(template, key))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://%s.execute-api.localhost:%s/", api, endpoint.Port()), nil
}

func upload(ctx context.Context, files *s3.Client, key string, code []byte) error {
	_, err := files.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucket)})
	if _, ours := errors.AsType[*types.BucketAlreadyOwnedByYou](err); err != nil && !ours {
		return fmt.Errorf("make bucket %s: %w", bucket, err)
	}
	_, err = files.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: bytes.NewReader(code)})
	if err != nil {
		return fmt.Errorf("upload %s: %w", key, err)
	}
	return nil
}

// deploy replaces the stack by a new one and returns the id of its API.
func deploy(ctx context.Context, stacks *cloudformation.Client, body string) (string, error) {
	const patience = time.Minute
	name := &cloudformation.DescribeStacksInput{StackName: aws.String(stackName)}
	if _, err := stacks.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: name.StackName}); err != nil {
		return "", fmt.Errorf("delete %s: %w", stackName, err)
	}
	quick := func(o *cloudformation.StackDeleteCompleteWaiterOptions) { o.MinDelay = time.Second }
	if err := cloudformation.NewStackDeleteCompleteWaiter(stacks).Wait(ctx, name, patience, quick); err != nil {
		return "", fmt.Errorf("delete %s: %w", stackName, err)
	}
	_, err := stacks.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: name.StackName, TemplateBody: &body, Capabilities: []cf.Capability{cf.CapabilityCapabilityIam},
	})
	if err != nil {
		return "", fmt.Errorf("create %s: %w", stackName, err)
	}
	out, err := cloudformation.NewStackCreateCompleteWaiter(stacks).WaitForOutput(ctx, name, patience,
		func(o *cloudformation.StackCreateCompleteWaiterOptions) { o.MinDelay = time.Second })
	if err != nil {
		return "", fmt.Errorf("create %s: %w", stackName, err)
	}
	return aws.ToString(out.Stacks[0].Outputs[0].OutputValue), nil
}
