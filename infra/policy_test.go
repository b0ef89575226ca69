package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// statement is one of a policy, with lists where IAM takes one value or several.
type statement struct {
	Actions, Resources []string
	Condition          any
}

// policy returns what the role of a function may do.
func (s *synthesis) policy(t *testing.T, name endpoint.Name) []statement {
	t.Helper()
	_, f := s.function(t, name)
	return statements(t, s.Template.Resources[refers(f.Properties["Role"])])
}

func statements(t *testing.T, role resource) []statement {
	t.Helper()
	if role.Type != "AWS::IAM::Role" || role.Properties["ManagedPolicyArns"] != nil {
		t.Fatalf("no role, or one with policies of others: %s", text(role))
	}
	list, _ := at(role.Properties, "Policies", 0, "PolicyDocument", "Statement").([]any)
	var all []statement
	for _, one := range list {
		all = append(all, statement{several(at(one, "Action")), several(at(one, "Resource")), at(one, "Condition")})
	}
	return all
}

func several(value any) []string {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var all []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			all = append(all, s)
			continue
		}
		all = append(all, named(v))
	}
	return all
}

// named writes a reference as its resource's logical id, and what is joined to it.
func named(value any) string {
	if parts, ok := at(value, "Fn::Join", 1).([]any); ok {
		var b strings.Builder
		for _, p := range parts {
			if s, ok := p.(string); ok {
				b.WriteString(s)
			} else {
				b.WriteString(named(p))
			}
		}
		return b.String()
	}
	if attribute := at(value, "Fn::GetAtt", 1); attribute == "StreamArn" {
		return refers(value) + "/stream"
	}
	return refers(value)
}

// expected returns what the row of a function allows, and what comes with its work, in words.
func (s *synthesis) expected(t *testing.T, f endpoint.Function) []string {
	t.Helper()
	name, a := f.Name, f.Access
	_, r := s.function(t, name)
	log := refers(at(r.Properties, "LoggingConfig", "LogGroup"))
	all := []string{"logs:CreateLogStream on " + log, "logs:PutLogEvents on " + log}
	touches := name == endpoint.Outbox
	add := func(action, on string, keys []string) {
		for _, k := range keys {
			touches = true
			all = append(all, fmt.Sprintf("%s on %s of %s", action, on, strings.Replace(k, "#", "#*", map[bool]int{true: 1}[strings.HasSuffix(k, "#")])))
		}
	}
	parts := func(kinds []string) []string {
		var keys []string
		for _, k := range kinds {
			keys = append(keys, endpoint.PartOf(k))
		}
		return keys
	}
	add("dynamodb:BatchGetItem", "Table", parts(a.Get))
	add("dynamodb:Query", "Table", parts(a.List))
	add("dynamodb:PutItem", "Table", parts(a.Put))
	add("dynamodb:DeleteItem", "Table", parts(a.Erase))
	add("dynamodb:ConditionCheckItem", "Table", parts(a.Check))
	for _, i := range a.Indexes {
		add("dynamodb:Query", "Table/index/"+i.Name, i.Lists)
	}
	if touches {
		all = append(all, "kms:Decrypt on TableKey")
	}
	if a.Unwraps {
		all = append(all, "kms:Decrypt on HubKey")
	}
	if a.Arms {
		all = append(all, "states:StartExecution on CallbackMachine", "states:StartExecution on ExpiryMachine")
	}
	queues := "arn:AWS::Partition:sqs:AWS::Region:AWS::AccountId:" + s.Stage.Stack + "-q-*"
	for action, does := range map[string]bool{
		"SendMessage": a.Rings, "ChangeMessageVisibility": a.Listens, "CreateQueue": a.Listens, "DeleteMessage": a.Listens, "ReceiveMessage": a.Listens, "DeleteQueue": a.Forgets,
	} {
		if does {
			all = append(all, "sqs:"+action+" on "+queues)
		}
	}
	if name == endpoint.Outbox {
		for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"} {
			all = append(all, "dynamodb:"+action+" on Table/stream")
		}
		queue, _ := s.Template.one(t, "AWS::SQS::Queue")
		all = append(all, "sqs:SendMessage on "+queue)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEachFunctionMayDoWhatItsRowSays(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		for _, f := range endpoint.Functions() {
			var got []string
			for _, st := range s.policy(t, f.Name) {
				keys, _ := at(st.Condition, "ForAllValues:StringLike", "dynamodb:LeadingKeys").([]any)
				for _, action := range st.Actions {
					for _, on := range st.Resources {
						if len(keys) == 0 {
							got = append(got, action+" on "+on)
						}
						for _, k := range keys {
							got = append(got, fmt.Sprintf("%s on %s of %s", action, on, k))
						}
					}
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(s.expected(t, f), got); diff != "" {
				t.Errorf("what %s may do (-row +policy)\n%s", f.Name, diff)
			}
		}
	})
}

// TestConditionsHold looks at what the words of the test before leave out.
func TestConditionsHold(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		for _, name := range functionNames() {
			for _, st := range s.policy(t, name) {
				c := text(st.Condition)
				switch on := st.Resources[0]; {
				case on == "Table" || strings.HasPrefix(on, "Table/index/"):
					if at(st.Condition, "Null", "dynamodb:LeadingKeys") != "false" {
						t.Errorf("%s may do %v on %s without naming a key: %s", name, st.Actions, on, c)
					}
				case on == "TableKey":
					via := named(at(st.Condition, "StringEquals", "kms:ViaService"))
					if via != "dynamodb.AWS::Region.AWS::URLSuffix" {
						t.Errorf("%s may use the key of the table beyond DynamoDB: %s", name, c)
					}
				case on == "HubKey":
					if !strings.Contains(c, `"kms:EncryptionContext:mash:purpose":"`+endpoint.UnwrapPurpose+`"`) {
						t.Errorf("%s may open more than the hub's keys: %s", name, c)
					}
				}
			}
		}
	})
}

// TestPoliciesDifferWhereRowsDo compares every function with every other.
func TestPoliciesDifferWhereRowsDo(t *testing.T) {
	s := made(t, production)
	words := func(name endpoint.Name) string {
		var own []string
		for _, st := range s.policy(t, name)[1:] { // the first is about its own log
			own = append(own, text(st))
		}
		return strings.Join(own, "\n")
	}
	for _, x := range endpoint.Functions() {
		for _, y := range endpoint.Functions() {
			same := cmp.Equal(forms(x.Access), forms(y.Access))
			if got := words(x.Name) == words(y.Name); got != same {
				t.Errorf("the policies of %s and %s are the same: %t, want %t as their rows", x.Name, y.Name, got, same)
			}
		}
	}
}

// forms returns what of a row a policy can tell: kinds in one part are one to it.
func forms(a endpoint.Access) []any {
	return []any{
		partsOf(a.Get), partsOf(a.List), partsOf(a.Put), partsOf(a.Erase), partsOf(a.Check), a.Indexes, a.Unwraps, a.Arms,
		a.Rings, a.Listens, a.Forgets,
	}
}

// TestNothingMayDoAnythingToEverything looks through every policy: a * stands only where AWS takes no name, and where the
// name is not known yet, behind the stack's own.
func TestNothingMayDoAnythingToEverything(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		roles := s.Template.of("AWS::IAM::Role")
		if extra := len(s.Template.of("AWS::IAM::Policy")) + len(s.Template.of("AWS::IAM::ManagedPolicy")); extra > 0 {
			t.Errorf("%d policies beside those of the roles", extra)
		}
		if want := len(functionNames()) + 2; len(roles) != want {
			t.Errorf("%d roles, want %d: one for each function and machine", len(roles), want)
		}
		for id, role := range roles {
			for _, st := range statements(t, role) {
				for _, action := range st.Actions {
					if strings.Contains(action, "*") {
						t.Errorf("%s may do %s", id, action)
					}
				}
				if strings.Contains(strings.Join(st.Resources, " "), "*") && !deliversLogs(st) && !ofQueues(s, st) {
					t.Errorf("%s may do %v on %v", id, st.Actions, st.Resources)
				}
			}
		}
	})
}

// ofQueues says whether a statement is about the queues that functions make, and nothing else.
func ofQueues(s *synthesis, st statement) bool {
	return len(st.Actions) == 1 && strings.HasPrefix(st.Actions[0], "sqs:") && len(st.Resources) == 1 &&
		strings.HasSuffix(st.Resources[0], ":AWS::AccountId:"+s.Stage.Stack+"-q-*")
}

// deliversLogs says whether a statement is that of a state machine's log, whose actions take no resource.
func deliversLogs(st statement) bool {
	for _, action := range st.Actions {
		if !strings.HasPrefix(action, "logs:") || !strings.Contains(action, "Deliver") &&
			!strings.Contains(action, "ResourcePolic") && action != "logs:DescribeLogGroups" {
			return false
		}
	}
	return true
}
