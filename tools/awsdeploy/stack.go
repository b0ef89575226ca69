package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cf "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// patience is how long a stack may take.
const patience = 5 * time.Minute

// cloud is the services that a deployment needs.
type cloud struct {
	endpoint string
	stacks   *cloudformation.Client
	files    *s3.Client
}

func (d deployment) connect() *cloud {
	config := aws.Config{
		Region: d.Region, BaseEndpoint: aws.String(d.Endpoint),
		Credentials: credentials.NewStaticCredentialsProvider(
			os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")),
	}
	return &cloud{
		endpoint: d.Endpoint,
		stacks:   cloudformation.NewFromConfig(config),
		// An emulator's bucket has no host name of its own.
		files: s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true }),
	}
}

// upload puts the assets into their buckets, which it makes where they are missing.
func (c *cloud) upload(ctx context.Context, s *synthesis) error {
	made := map[string]bool{}
	for _, a := range s.Assets {
		if !made[a.Bucket] {
			if err := c.bucket(ctx, a.Bucket); err != nil {
				return err
			}
			made[a.Bucket] = true
		}
		if err := c.put(ctx, a); err != nil {
			return fmt.Errorf("upload %s: %w", a.File, err)
		}
	}
	return nil
}

func (c *cloud) bucket(ctx context.Context, name string) error {
	_, err := c.files.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
	if _, ok := errors.AsType[*types.BucketAlreadyOwnedByYou](err); ok || err == nil {
		return nil
	}
	return fmt.Errorf("make bucket %s: %w", name, err)
}

func (c *cloud) put(ctx context.Context, a asset) error {
	f, err := os.Open(a.File)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	_, err = c.files.PutObject(ctx, &s3.PutObjectInput{Bucket: &a.Bucket, Key: &a.Key, Body: f})
	return err
}

// deploy creates the stack or updates it, and returns its outputs. A stack that nothing changes in is deployed.
func (c *cloud) deploy(ctx context.Context, name string, s *synthesis) (map[string]string, error) {
	template := aws.String(c.endpoint + "/" + s.Template.Bucket + "/" + s.Template.Key)
	may := []cf.Capability{cf.CapabilityCapabilityIam, cf.CapabilityCapabilityNamedIam}
	_, err := c.stacks.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &name, TemplateURL: template, Capabilities: may,
	})
	if _, exists := errors.AsType[*cf.AlreadyExistsException](err); exists {
		_, err = c.stacks.UpdateStack(ctx, &cloudformation.UpdateStackInput{
			StackName: &name, TemplateURL: template, Capabilities: may,
		})
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok && strings.Contains(e.ErrorMessage(), "No updates") {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("deploy %s: %w", name, err)
	}
	return c.await(ctx, name)
}

// await waits until the stack is as it was asked for.
func (c *cloud) await(ctx context.Context, name string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		got, err := c.stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", name, err)
		}
		if len(got.Stacks) != 1 {
			return nil, fmt.Errorf("there are %d stacks %s", len(got.Stacks), name)
		}
		switch stack := got.Stacks[0]; {
		case stack.StackStatus == cf.StackStatusCreateComplete || stack.StackStatus == cf.StackStatusUpdateComplete:
			outputs := map[string]string{}
			for _, o := range stack.Outputs {
				outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
			}
			return outputs, nil
		case !strings.HasSuffix(string(stack.StackStatus), "_IN_PROGRESS"):
			return nil, fmt.Errorf("%s is %s: %s\n%s", name, stack.StackStatus, aws.ToString(stack.StackStatusReason), c.why(ctx, name))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", name, ctx.Err())
		}
	}
}

// why returns what failed in a stack, a line each.
func (c *cloud) why(ctx context.Context, name string) string {
	events, err := c.stacks.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &name})
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, e := range events.StackEvents {
		if strings.HasSuffix(string(e.ResourceStatus), "_FAILED") {
			lines = append(lines, fmt.Sprintf("%s %s: %s", aws.ToString(e.LogicalResourceId), e.ResourceStatus,
				aws.ToString(e.ResourceStatusReason)))
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}
