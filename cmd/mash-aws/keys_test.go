package main

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
)

func TestTheKeyThatSignsIsReplaced(t *testing.T) {
	t.Parallel()
	e := newEmulated(t)
	stack, config := e.deploy()
	for _, command := range []string{"rotate-hub-key", "rekey"} {
		if r := e.run(command, "--stack", stack); r.code != exitError || !strings.Contains(r.stderr, "mash-aws bootstrap --stack "+stack) {
			t.Errorf("%s before bootstrap = %+v", command, r)
		}
	}
	e.must("bootstrap", "--stack", stack)
	rotated := e.run("rotate-hub-key", "--stack", stack, "--overlap", "2h")
	if rotated.code != exitOK || !strings.Contains(rotated.stderr, "signs from 2") || !strings.Contains(rotated.stderr, "valid until 2") {
		t.Errorf("rotate-hub-key = %+v", rotated)
	}
	if r := e.run("rotate-hub-key", "--stack", stack); r.code != exitError || !strings.Contains(r.stderr, "two keys are valid already") {
		t.Errorf("rotate-hub-key again = %+v", r)
	}
	if r := e.run("rotate-hub-key", "--stack", stack, "--now", "--overlap", "1h"); r.code != exitUsage {
		t.Errorf("rotate-hub-key --now --overlap = %+v", r)
	}
	kid := e.must("rotate-hub-key", "--stack", stack, "--now")
	h, err := config.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Keys.Public(); len(got) != 1 || got[0].ID != kid || kid == strings.TrimSpace(rotated.stdout) {
		t.Errorf("the hub's keys are %v, want %s", got, kid)
	}
}

func TestRekeyWrapsUnderTheStacksKey(t *testing.T) {
	t.Parallel()
	e := newEmulated(t)
	stack, config := e.deploy()
	e.must("bootstrap", "--stack", stack)
	before, err := config.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := kms.NewFromConfig(e.config).CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	config.Key = aws.ToString(made.KeyMetadata.Arn)
	other := e.stack(map[string]string{"Table": config.Table, "HubKey": config.Key, "Url": config.BaseURL + "/"})
	if got := e.must("rekey", "--stack", other); got != "The hub's keys lie under "+config.Key+"." {
		t.Errorf("rekey = %s", got)
	}
	after, err := config.Open(t.Context())
	if err != nil || after.Keys.Hash("x") != before.Keys.Hash("x") {
		t.Errorf("the hub does not open under the new key: %v", err)
	}
}
