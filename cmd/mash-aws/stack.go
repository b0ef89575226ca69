package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/mash-hub/mash/pkg/awshub"
)

// connect returns the configuration of AWS, with a region and credentials.
func (p *program) connect(ctx context.Context) (aws.Config, error) {
	conf, err := p.load(ctx)
	if err != nil {
		return aws.Config{}, unreadable(err)
	}
	if conf.Region == "" {
		return aws.Config{}, errors.New("no AWS region is set; set AWS_REGION, or region in ~/.aws/config")
	}
	if conf.Credentials == nil {
		return aws.Config{}, errNoCredentials
	}
	if _, err := conf.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, noCredentials(err)
	}
	return conf, nil
}

// accountOf returns account/region of the credentials.
func accountOf(ctx context.Context, conf aws.Config) (string, error) {
	me, err := sts.NewFromConfig(conf).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	return aws.ToString(me.Account) + "/" + conf.Region, nil
}

// find returns the hub of a stack, from the stack's outputs.
func (p *program) find(ctx context.Context, stack string) (awshub.Config, error) {
	if stack == "" {
		return awshub.Config{}, usagef("", "Name the stack with --stack.")
	}
	conf, err := p.connect(ctx)
	if err != nil {
		return awshub.Config{}, err
	}
	outputs, err := outputsOf(ctx, conf, stack)
	if err != nil {
		return awshub.Config{}, err
	}
	c := awshub.Config{
		AWS: conf, Stack: stack,
		Table: outputs["Table"], Key: outputs["HubKey"], BaseURL: strings.TrimSuffix(outputs["Url"], "/"),
	}
	var missing []string
	for _, name := range []string{"Table", "HubKey", "Url"} {
		if outputs[name] == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return awshub.Config{}, fmt.Errorf(
			"the stack %s has no output %s; is it one of Mash, and has its deployment ended?", stack, strings.Join(missing, ", "))
	}
	return c, nil
}

func outputsOf(ctx context.Context, conf aws.Config, stack string) (map[string]string, error) {
	out, err := cloudformation.NewFromConfig(conf).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{
		StackName: aws.String(stack),
	})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "ValidationError" {
		return nil, noStack(ctx, conf, stack)
	}
	if err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	for _, s := range out.Stacks {
		for _, o := range s.Outputs {
			outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}
	return outputs, nil
}

// noStack says where there is no such stack, as far as the credentials may know.
func noStack(ctx context.Context, conf aws.Config, stack string) error {
	account, err := accountOf(ctx, conf)
	if err != nil {
		account = "the account of these credentials, region " + conf.Region
	}
	return fmt.Errorf("there is no stack %s in %s; are AWS_PROFILE and AWS_REGION the right ones?", stack, account)
}
