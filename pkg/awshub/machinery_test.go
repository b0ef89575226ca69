package awshub_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// stream is the table's stream in process: a transport that keeps the image of every item that is written through it, in
// order, as the stream has it.
type stream struct {
	next http.RoundTripper

	mu     sync.Mutex
	images []json.RawMessage
	names  []string // of the event of each
}

// put is a put as it is sent.
type put struct {
	Item                json.RawMessage
	ConditionExpression string
}

// RoundTrip implements http.RoundTripper.
func (s *stream) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	out, err := s.next.RoundTrip(r)
	if err != nil || out.StatusCode != http.StatusOK {
		return out, err
	}
	var written struct {
		put
		TransactItems []struct{ Put put }
	}
	if err := json.Unmarshal(body, &written); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(written.put)
	for _, w := range written.TransactItems {
		s.note(w.Put)
	}
	return out, nil
}

func (s *stream) note(p put) {
	if len(p.Item) == 0 {
		return
	}
	name := "MODIFY"
	if strings.Contains(p.ConditionExpression, "attribute_not_exists") {
		name = "INSERT"
	}
	s.images, s.names = append(s.images, p.Item), append(s.names, name)
}

// records returns everything that was written so far, as records of the stream in order.
func (s *stream) records() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []json.RawMessage
	for i, image := range s.images {
		all = append(all, json.RawMessage(fmt.Sprintf(`{"eventID":"e%[1]d","eventName":"%[3]s","eventSource":"aws:dynamodb",`+
			`"dynamodb":{"SequenceNumber":"%[1]d","StreamViewType":"NEW_IMAGE","NewImage":%[2]s}}`, i, image, s.names[i])))
	}
	return all
}

// machines is Step Functions in process: a transport that answers StartExecution and plays both definitions.
type machines struct {
	t       *testing.T
	ctx     context.Context
	fire    awshub.Execution
	deliver awshub.Execution

	mu     sync.Mutex
	refuse bool              // whether to start nothing
	lose   bool              // whether what is started is forgotten
	fail   bool              // whether the functions fail
	inputs map[string]string // of each execution, by machine and name
	lost   []string
	calls  int
	rung   []string // the queues that were sent a ring

	running sync.WaitGroup
}

var errFunction = errors.New("the function failed")

// RoundTrip implements http.RoundTripper.
func (m *machines) RoundTrip(r *http.Request) (*http.Response, error) {
	target := r.Header.Get("X-Amz-Target")
	if target == "AmazonSQS.SendMessage" {
		return m.ring(r)
	}
	if target != "AWSStepFunctions.StartExecution" {
		return nil, fmt.Errorf("the outbox asks for %s", cmp.Or(target, r.URL.Path))
	}
	var in struct{ StateMachineArn, Name, Input string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	status, answer := m.start(in.StateMachineArn, in.Name, in.Input)
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// ring notes the queue, and says that there is none.
func (m *machines) ring(r *http.Request) (*http.Response, error) {
	var in struct {
		QueueURL string `json:"QueueUrl"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rung = append(m.rung, in.QueueURL)
	return &http.Response{
		StatusCode: http.StatusBadRequest, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(`{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"none"}`)),
	}, nil
}

func (m *machines) start(machine, name, input string) (int, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := machine + " " + name
	switch _, there := m.inputs[id]; {
	case m.refuse:
		return http.StatusBadRequest, `{"__type":"ExecutionLimitExceeded","message":"enough"}`
	case there:
		return http.StatusBadRequest, `{"__type":"ExecutionAlreadyExists","message":"there"}`
	}
	m.inputs[id] = input
	if m.lose {
		m.lost = append(m.lost, id)
	} else {
		m.play(id)
	}
	return http.StatusOK, `{"executionArn":"arn:aws:states:us-east-1:000000000000:execution:x:y","startDate":1}`
}

// play runs an execution.
func (m *machines) play(id string) {
	input := m.inputs[id]
	m.running.Go(func() {
		if err := m.execute(id, input); err != nil && m.ctx.Err() == nil && !errors.Is(err, errFunction) {
			m.t.Errorf("execution %s: %v", id, err)
		}
	})
}

func (m *machines) execute(id, input string) error {
	var in sfnclock.Input
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		return err
	}
	f := m.deliver
	if strings.HasPrefix(id, "expiry") {
		f = m.fire
		if err := m.wait(in.At); err != nil {
			return err
		}
	}
	for {
		m.mu.Lock()
		fails := m.fail
		m.calls++
		m.mu.Unlock()
		if fails {
			return errFunction // as after the last retry
		}
		answer, err := f(m.ctx, in)
		if err != nil || answer.Again == "" {
			return err
		}
		if err := m.wait(answer.Again); err != nil {
			return err
		}
	}
}

func (m *machines) wait(timestamp string) error {
	at, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return err
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-m.ctx.Done():
		return m.ctx.Err()
	}
}

// heal ends every fault, and runs what was lost.
func (m *machines) heal() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse, m.lose, m.fail = false, false, false
	for _, id := range m.lost {
		m.play(id)
	}
	m.lost = nil
}

// counting is the receiver of all callbacks, and counts them by message.
type counting struct {
	mu  sync.Mutex
	got map[string]int
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		InReplyTo string `json:"in_reply_to"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got[body.InReplyTo]++
}

// of returns how often each of these was pushed.
func (c *counting) of(ids ...string) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int{}
	for _, id := range ids {
		out[id] = c.got[id]
	}
	return out
}
