package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"

	"github.com/mash-hub/mash/pkg/awshub"
)

// find returns the hub of a stack, from the stack's outputs.
func (p *program) find(ctx context.Context, stack string) (awshub.Config, error) {
	conf, err := p.load(ctx)
	if err != nil {
		return awshub.Config{}, fmt.Errorf("the AWS configuration cannot be read: %w", err)
	}
	if conf.Region == "" {
		return awshub.Config{}, errors.New("no AWS region is set; set AWS_REGION, or region in ~/.aws/config")
	}
	if conf.Credentials == nil {
		return awshub.Config{}, noCredentials(nil)
	}
	if _, err := conf.Credentials.Retrieve(ctx); err != nil {
		return awshub.Config{}, noCredentials(err)
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

func noCredentials(cause error) error {
	const remedy = "no AWS credentials were found; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	if cause == nil {
		return errors.New(remedy)
	}
	return fmt.Errorf("%s (%w)", remedy, cause)
}

func outputsOf(ctx context.Context, conf aws.Config, stack string) (map[string]string, error) {
	out, err := cloudformation.NewFromConfig(conf).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{
		StackName: aws.String(stack),
	})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "ValidationError" {
		return nil, fmt.Errorf("there is no stack %s in the account and region %s of these credentials", stack, conf.Region)
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

// sentence tells an error plainly: of one of AWS's, what was not allowed or why it is, without what only a log wants.
func sentence(err error) string {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err.Error() + "."
	}
	at := "AWS"
	if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		at = op.Service() + " " + op.Operation()
	}
	switch api.ErrorCode() {
	case "AccessDenied", "AccessDeniedException":
		return fmt.Sprintf("these AWS credentials are not allowed %s: %s", at, api.ErrorMessage())
	case "ExpiredToken", "ExpiredTokenException":
		return "these AWS credentials have expired; get new ones and try again."
	}
	return fmt.Sprintf("%s failed with %s: %s", at, api.ErrorCode(), api.ErrorMessage())
}
