package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// itself runs the program as a process, with nothing of AWS around it but this environment, and files by their names in
// a home of its own.
func itself(t *testing.T, args []string, env map[string]string, files map[string]string) ran {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = []string{"MASH_AWS_ITSELF=1", "HOME=" + home, "GORACE=atexit_sleep_ms=0"}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// nobody returns a URL at which nobody answers.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestWhatIsAroundItIsSaidInASentence(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<html><body>Not here.</body></html>")
	}))
	t.Cleanup(other.Close)
	with := func(more ...string) map[string]string {
		env := map[string]string{"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_SERVICE_ENDPOINT": other.URL, "AWS_MAX_ATTEMPTS": "1"}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	keys := []string{"AWS_ACCESS_KEY_ID", "some", "AWS_SECRET_ACCESS_KEY", "body"}
	const noKeys = "mash-aws: no AWS credentials were found; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\n"
	gone := nobody(t)
	for name, c := range map[string]struct {
		env   map[string]string
		files map[string]string
		want  string
	}{
		"no credentials":        {env: with(), want: noKeys},
		"none on this machine":  {env: with("AWS_EC2_METADATA_SERVICE_ENDPOINT", gone), want: noKeys},
		"none to be looked for": {env: with("AWS_EC2_METADATA_DISABLED", "true"), want: noKeys},
		"no such profile": {
			env:  with("AWS_PROFILE", "nope"),
			want: "mash-aws: AWS_PROFILE names the profile nope, which is neither in ~/.aws/config nor in ~/.aws/credentials.\n",
		},
		"a sign-in that is over": {
			env: with("AWS_PROFILE", "work"),
			files: map[string]string{".aws/config": "[profile work]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n" +
				"[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://work.example/start\n"},
			want: "mash-aws: this AWS profile has to sign in anew; run aws sso login and try again.\n",
		},
		"a sign-in that is over, as it was written once": {
			env: with("AWS_PROFILE", "work"),
			files: map[string]string{".aws/config": "[profile work]\nsso_account_id = 1\nsso_role_name = r\n" +
				"sso_region = us-east-1\nsso_start_url = https://work.example/start\n"},
			want: "mash-aws: this AWS profile has to sign in anew; run aws sso login and try again.\n",
		},
		"a profile of another": {
			env: with("AWS_PROFILE", "work"), files: map[string]string{".aws/config": "[profile work]\nrole_arn = r\nsource_profile = nope\n"},
			want: "mash-aws: the AWS configuration names the profile nope, which is neither in ~/.aws/config nor in ~/.aws/credentials.\n",
		},
		"nobody at the endpoint": {
			env:  with(append(keys, "AWS_ENDPOINT_URL", gone)...),
			want: "mash-aws: " + gone + " does not answer; check AWS_ENDPOINT_URL, and the network.\n",
		},
		"somebody else at the endpoint": {
			env:  with(append(keys, "AWS_ENDPOINT_URL", other.URL)...),
			want: "mash-aws: " + other.URL + " does not answer like AWS (404 Not Found); check AWS_ENDPOINT_URL.\n",
		},
	} {
		for _, args := range [][]string{{"token", "--stack", "Mash"}, {"account"}} {
			t.Run(name+" for "+args[0], func(t *testing.T) {
				t.Parallel()
				if got := itself(t, args, c.env, c.files); got != (ran{exitError, "", c.want}) {
					t.Errorf("it says %d %q %q, want %q", got.code, got.stdout, got.stderr, c.want)
				}
			})
		}
	}
}

func TestWithoutANetworkTheRegionMayBeWrongToo(t *testing.T) {
	t.Parallel()
	got := itself(t, []string{"account"}, map[string]string{
		"AWS_REGION": "eu-nowhere-1", "AWS_ACCESS_KEY_ID": "some", "AWS_SECRET_ACCESS_KEY": "body", "AWS_MAX_ATTEMPTS": "1",
		"HTTPS_PROXY": nobody(t), // so that no test asks the network
	}, nil)
	const want = "mash-aws: https://sts.eu-nowhere-1.amazonaws.com does not answer; check AWS_REGION, and the network.\n"
	if got != (ran{exitError, "", want}) {
		t.Errorf("account = %+v, want %q", got, want)
	}
}
