package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var errNoCredentials = errors.New("no AWS credentials were found; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")

// unreadable is the error of a configuration that cannot be read.
func unreadable(cause error) error {
	if missing, ok := errors.AsType[config.SharedConfigProfileNotExistError](cause); ok {
		by := "the AWS configuration"
		if os.Getenv("AWS_PROFILE") == missing.Profile {
			by = "AWS_PROFILE"
		}
		return fmt.Errorf("%s names the profile %s, which is neither in ~/.aws/config nor in ~/.aws/credentials", by, missing.Profile)
	}
	return fmt.Errorf("the AWS configuration cannot be read: %w", cause)
}

// noCredentials is the error of credentials that cannot be had.
func noCredentials(cause error) error {
	if _, ok := errors.AsType[smithy.APIError](cause); ok || errors.Is(cause, context.Canceled) {
		return cause // sentence tells it
	}
	if e, ok := errors.AsType[*url.Error](cause); ok {
		if at, err := url.Parse(e.URL); err == nil && ofAWS(at) {
			return cause
		}
	}
	if op, ok := errors.AsType[*smithy.OperationError](cause); ok && op.Service() == "ec2imds" {
		return errNoCredentials // where they are looked for last, on machines that are none of AWS
	}
	why := strings.TrimPrefix(cause.Error(), "failed to refresh cached credentials, ")
	if strings.Contains(why, "SSO") { // has no type where a session is named
		return errors.New("this AWS profile has to sign in anew; run aws sso login and try again")
	}
	return fmt.Errorf("%w (%s)", errNoCredentials, why)
}

// sentence tells an error plainly: of one of AWS's, what was not allowed or why it is, without what only a log wants.
func sentence(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted."
	}
	if text := notAWS(err); text != "" {
		return text
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		if text := err.Error(); strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
			return text
		}
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

// notAWS says that nobody answers where AWS is asked, or somebody else; "" when AWS has answered.
func notAWS(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		if at, err := url.Parse(e.URL); err == nil {
			return fmt.Sprintf("%s://%s does not answer; check %s, and the network.", at.Scheme, at.Host, whereFrom(at))
		}
	}
	e, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok || e.Response == nil || e.Response.Request == nil {
		return ""
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() != "UnknownError" {
		return ""
	}
	at, status := e.Response.Request.URL, e.HTTPStatusCode()
	return fmt.Sprintf("%s://%s does not answer like AWS (%d %s); check %s.", at.Scheme, at.Host, status, http.StatusText(status), whereFrom(at))
}

// whereFrom names the variable that a URL comes from at which AWS was asked.
func whereFrom(at *url.URL) string {
	if ofAWS(at) {
		return "AWS_REGION"
	}
	return "AWS_ENDPOINT_URL"
}

// ofAWS says whether a URL is one of AWS itself.
func ofAWS(at *url.URL) bool {
	return slices.ContainsFunc([]string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws"}, func(domain string) bool {
		return strings.HasSuffix(at.Hostname(), domain)
	})
}
