package localhub_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// household is an account with one of everything that an id names.
type household struct {
	owner                                              *hub.Caller
	message, person, invitation, session, token, agent string
	run, directive                                     string // a session of the agent, and what it was told
	joining, opening                                   string // an invitation's and a link's own
	secrets                                            []string
	visitor, bearer                                    string // a session and a token of the member
}

// household makes an account whose every text can be told from those of others.
func (s *server) household(name string) household {
	s.t.Helper()
	ctx := s.t.Context()
	must := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	owner, err := s.hub.EnsureAccount(ctx, name)
	must(err)
	h := household{owner: owner, agent: s.hub.AgentRef(owner.Account.Ref, name+"-bot")}
	made, err := s.hub.AddAgent(ctx, owner, name+"-bot")
	must(err)
	h.run, _ = s.send("POST", "/v1/sessions", made.Token, doc{"label": name + "-run"}, http.StatusCreated)["session"].(map[string]any)["id"].(string)
	h.message, _ = s.send("POST", "/v1/messages", made.Token, doc{
		"ma2h_version": "0.6", "type": "ask", "title": name + "-title", "created_at": time.Now().UTC().Format(time.RFC3339),
		"agent": doc{"id": name + "-bot", "run_id": "r"}, "idempotency_key": name,
		"request": doc{"mode": "confirm", "allowed_resolvers": []string{"human:" + name, "human:" + name + "-member"}},
	}, http.StatusAccepted)["id"].(string)
	told, err := s.hub.Direct(ctx, owner, &ma2h.Directive{To: "agent:" + name + "-bot", Title: name + "-word"})
	must(err)
	h.directive = told.ID
	join := func(name string, role hub.Role) (*hub.Caller, string) {
		invited, err := s.hub.Invite(ctx, owner, name, role)
		must(err)
		_, token, _ := strings.Cut(invited.URL, "/join/")
		i, err := auth.Invitation(ctx, s.hub, token)
		must(err)
		c, session, err := s.hub.AcceptInvitation(ctx, i, "", hub.Browser{})
		must(err)
		return c, session
	}
	member, session := join(name+"-member", hub.RoleMember)
	h.person, h.visitor, h.session = member.Person.Ref, session, hub.LoginHash(session)
	h.bearer, err = s.hub.NewPersonToken(ctx, member, name+"-token")
	must(err)
	h.token = hub.LoginHash(h.bearer)
	open, err := s.hub.Invite(ctx, owner, name+"-guest", hub.RoleMember)
	must(err)
	h.invitation = open.ID
	_, h.joining, _ = strings.Cut(open.URL, "/join/")
	h.opening, err = s.hub.NewLogin(ctx, owner, hub.LoginLink, time.Hour)
	must(err)
	h.secrets = []string{name + "-", h.message, h.agent, h.person, h.session, h.token, h.invitation, h.joining, h.run, h.directive}
	return h
}

// nobody has ids of the same forms that name nothing.
func nobody() household {
	tail := strings.Repeat("a", ma2h.TailLength)
	hash := strings.Repeat("a", 64)
	return household{
		message: "msg_" + tail, person: tail, invitation: tail + "-" + hash, session: hash, token: hash, agent: tail, run: ma2h.PrefixSession + tail, directive: ma2h.PrefixDirective + tail,
		joining: hub.NewToken(hub.PersonTokenPrefix, strings.Repeat("a", hub.AccountRefLength), tail),
		opening: hub.NewToken(hub.PersonTokenPrefix, strings.Repeat("a", hub.AccountRefLength), tail),
	}
}

// fill puts the household's id into a route, and says whether it knows which.
func (h *household) fill(route string) (path string, known bool) {
	id := ""
	for _, c := range []struct{ prefix, id string }{
		{"/inbox/{id}", h.message}, {"/people/invitations/{id}", h.invitation}, {"/people/{id}", h.person},
		{"/settings/sessions/{id}", h.session}, {"/settings/tokens/{id}", h.token}, {"/agents/{ref}", h.agent},
		{"/join/{token}", h.joining}, {"/in/{token}", h.opening},
	} {
		if strings.HasPrefix(route, c.prefix) {
			id = c.id
			break
		}
	}
	route = strings.NewReplacer("{session}", h.run, "{directive}", h.directive).Replace(route)
	hole := regexp.MustCompile(`\{\w+\}`)
	route = strings.TrimSuffix(route, "{$}")
	return hole.ReplaceAllString(route, id), id != "" || !hole.MatchString(route)
}

// everything is a form with whatever any deed asks for, so that each gets as far as it can.
func everything(h household) url.Values {
	return url.Values{
		"do": {"option:0"}, "name": {"x-name"}, "role": {"member"}, "choose": {"1"}, "who": {h.owner.Actor()}, "new": {"short"},
		"reason": {"x-reason"}, "title": {"x-title"}, "may": {"none"}, "host": {"agent.example"}, "proof": {"person"}, "ref": {"x"}, "id": {"x-bot"}, "value": {"x"}, "comment": {"x"},
	}
}

// window is a browser whose session is that of a token.
type window struct {
	*server
	client *http.Client
	csrf   string
}

var csrfField = regexp.MustCompile(`name="csrf" value="([0-9a-f]+)"`)

func (s *server) window(session string) *window {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	at, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	jar.SetCookies(at, []*http.Cookie{{Name: "mash_session_" + at.Port(), Value: session, Path: "/"}})
	w := &window{server: s, client: &http.Client{
		Transport: s.client.Transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	_, body := w.visit("GET", "/settings", nil)
	if m := csrfField.FindStringSubmatch(body); m != nil {
		w.csrf = m[1]
	}
	return w
}

func (w *window) visit(method, path string, form url.Values) (int, string) {
	w.t.Helper()
	if form != nil {
		form.Set("csrf", w.csrf)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	resp, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// ending are the deeds that would end the visitor's own session, and are about nothing else.
var ending = []string{"/signout", "/settings/sign-out-everywhere", "/signin"}

// held are the routes that answer for as long as one listens. They take no id, and say only that a lane of the visitor's own
// account rang.
var held = []string{"/live/events"}

// bearers are the routes whose secret is itself what admits: it is good for whoever holds it.
var bearers = []string{"/in/{token}", "/join/{token}"}

func TestA7_AnotherAccountsIDsAreUnknownOnEveryRoute(t *testing.T) {
	counting(t, 0, func(s *server, _ *counted) {
		ours, theirs, none := s.household("ours"), s.household("theirs"), nobody()
		session, err := s.hub.NewLogin(s.t.Context(), ours.owner, hub.LoginSession, time.Hour)
		if err != nil {
			s.t.Fatal(err)
		}
		w := s.window(session)
		for _, r := range inbox.Routes() {
			if slices.Contains(slices.Concat(bearers, ending, held), r.Path) {
				continue
			}
			foreign, known := theirs.fill(r.Path)
			unknown, _ := none.fill(r.Path)
			if !known {
				s.t.Errorf("%s %s has no case: see household.fill", r.Method, r.Path)
				continue
			}
			var form url.Values
			if r.Method != http.MethodGet {
				form = everything(theirs)
			}
			status, body := w.visit(r.Method, foreign, form)
			for _, secret := range theirs.secrets {
				if strings.Contains(strings.ReplaceAll(body, foreign, ""), secret) {
					s.t.Errorf("%s %s with another account's id shows %s", r.Method, r.Path, secret)
				}
			}
			if foreign == unknown {
				continue
			}
			wantStatus, wantBody := w.visit(r.Method, unknown, form)
			if status != wantStatus || strings.ReplaceAll(body, foreign, unknown) != wantBody || status < 400 {
				s.t.Errorf("%s %s = %d with another account's id, and %d with one that nobody has", r.Method, r.Path, status, wantStatus)
			}
		}
		s.intact(theirs)
	})
}

// intact holds that nothing of a household was touched.
func (s *server) intact(h household) {
	s.t.Helper()
	ctx := s.t.Context()
	m, err := s.hub.Read(ctx, h.owner, h.message)
	if err != nil || m.Status != ma2h.StatusOpen {
		s.t.Errorf("the other's message is %+v, %v; want it open", m, err)
	}
	if _, _, err := auth.For(s.hub).Session(ctx, h.visitor); err != nil {
		s.t.Errorf("the other's session: %v", err)
	}
	credential, _ := auth.Parse(h.bearer)
	if _, err := auth.For(s.hub).Caller(ctx, credential); err != nil {
		s.t.Errorf("the other's token: %v", err)
	}
	if _, err := auth.Invitation(ctx, s.hub, h.joining); err != nil {
		s.t.Errorf("the other's invitation: %v", err)
	}
	agents, err := s.hub.Agents(ctx, h.owner)
	if err != nil || len(agents) != 1 || agents[0].Revoked || agents[0].Credentials != 1 {
		s.t.Errorf("the other's agents are %+v, %v", agents, err)
	}
	there, err := s.hub.Attendance(ctx, h.owner, agents[0].ID, 1)
	if err != nil || there.Stop != nil || len(there.Live) != 1 {
		s.t.Errorf("the other's agent is there as %+v, %v; want it in one session and not stopped", there, err)
	}
	thread, err := s.hub.Thread(ctx, h.owner, agents[0].ID, "", 9)
	if err != nil || len(thread.Rows) != 1 || thread.Rows[0].Mailbox.State != ma2h.TrackQueued {
		s.t.Errorf("the other's agent was told %+v, %v", thread, err)
	}
	account, err := s.hub.EnsureAccount(ctx, h.owner.Person.ID)
	if err != nil || len(account.Account.DefaultResolvers) != 0 {
		s.t.Errorf("the other's account is %+v, %v", account, err)
	}
}

// governing are the deeds on the pages of agents that are for every person of the account.
var governing = []string{"/agents/{ref}/stop", "/agents/{ref}/lift", "/agents/{ref}/sessions/{session}/close", "/agents/{ref}/told"}

// owners are the deeds that members may not do; what begins with one of these, but for the first two, included.
var owners = []string{"/inbox", "/inbox/{id}/send-again", "/agents", "/people/", "/settings/default-resolvers", "/settings/inter-agent"}

// members are those that they may.
var members = []string{"/inbox/{id}", "/settings/password", "/settings/sessions/", "/settings/tokens", "/join/", "/signin"}

func TestA7_AMemberIsRefusedOnEveryRouteOfOwners(t *testing.T) {
	counting(t, 0, func(s *server, _ *counted) {
		h := s.household("ours")
		w := s.window(h.visitor)
		begins := func(path string, list []string) bool {
			return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(path, p) })
		}
		refused := 0
		for _, r := range inbox.Routes() {
			if r.Method == http.MethodGet || slices.Contains(slices.Concat(ending, governing), r.Path) {
				continue
			}
			forOwners, forMembers := slices.Contains(owners, r.Path) || begins(r.Path, owners[2:]), !slices.Contains(owners, r.Path) && begins(r.Path, members)
			path, known := h.fill(r.Path)
			if forOwners == forMembers || !known {
				s.t.Errorf("%s %s has no case: see owners, members and household.fill", r.Method, r.Path)
				continue
			}
			if !forOwners {
				continue
			}
			refused++
			if status, body := w.visit(r.Method, path, everything(h)); status != http.StatusForbidden || !strings.Contains(body, "Only an owner") {
				s.t.Errorf("a member's %s %s = %d, want 403: %s", r.Method, path, status, body)
			}
		}
		if refused < 4 {
			s.t.Errorf("only %d routes are for owners", refused)
		}
		s.intact(h)
	})
}

// late is a form that is read only after something has happened.
type late struct {
	happens func()
	form    io.Reader
}

func (l *late) Read(p []byte) (int, error) {
	if l.happens != nil {
		l.happens()
		l.happens = nil
	}
	return l.form.Read(p)
}

// TestA7_WhoIsSignedOutWhileAFormArrivesDoesNothing: the hub asks for the form, the person signs out everywhere, and only
// then the form is sent.
func TestA7_WhoIsSignedOutWhileAFormArrivesDoesNothing(t *testing.T) {
	counting(t, 0, func(s *server, _ *counted) {
		h := s.household("ours")
		ctx := s.t.Context()
		transport := &http.Transport{ExpectContinueTimeout: time.Minute}
		s.t.Cleanup(transport.CloseIdleConnections)
		deeds := 0
		for _, r := range inbox.Routes() {
			if r.Method == http.MethodGet || slices.Contains(ending, r.Path) || strings.HasPrefix(r.Path, "/join/") {
				continue
			}
			owner, err := s.hub.EnsureAccount(ctx, "ours")
			if err != nil {
				s.t.Fatal(err)
			}
			session, err := s.hub.NewLogin(ctx, owner, hub.LoginSession, time.Hour)
			if err != nil {
				s.t.Fatal(err)
			}
			w := s.window(session)
			w.client.Transport = transport
			form := everything(h)
			form.Set("csrf", w.csrf)
			path, _ := h.fill(r.Path)
			body := &late{form: strings.NewReader(form.Encode()), happens: func() {
				if err := s.hub.SignOutEverywhere(ctx, owner); err != nil {
					s.t.Error(err)
				}
			}}
			req, err := http.NewRequestWithContext(ctx, r.Method, w.url+path, body)
			if err != nil {
				s.t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Expect", "100-continue")
			resp, err := w.client.Do(req)
			if err != nil {
				s.t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusUnauthorized {
				s.t.Errorf("%s %s of somebody who has just signed out = %d, want 401", r.Method, path, resp.StatusCode)
			}
			deeds++
		}
		if deeds < 15 {
			s.t.Errorf("only %d deeds were tried", deeds)
		}
	})
}
