package controlapi_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/controlapi"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// outOfAllYears are times that their zone carries out of the years that can be written.
func outOfAllYears() []string {
	return []string{
		"9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999-00:01", "9999-12-31t00:01:00.5-23:59", "0000-01-01T00:00:00+00:01",
	}
}

func TestTimes_WhatNoYearHoldsIsRefused(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		for _, at := range outOfAllYears() {
			s.writesNothing(func() {
				for _, envelope := range []func(...edit) doc{s.ask, s.task, s.notify} {
					for _, field := range []string{"/expires_at", "/created_at"} {
						bot.submit(envelope(set(field, at))).refused(http.StatusBadRequest, ma2h.CodeValidationError, field)
					}
				}
				bot.get(id+"?since="+url.QueryEscape(at)).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/since")
			})
		}
		for _, at := range []string{"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z"} {
			bot.accepted(s.ask(set("/created_at", at)))
			bot.submit(s.ask(expires(at))).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/expires_at")
			bot.get(id+"?since="+at).is(http.StatusOK).shows("/status", "open")
		}
		bot.get(id + "?since=9999-12-31T23:59:59.999999999Z").is(http.StatusNotModified)
	})
}

// TestTimes_AFarDeadline goes through everything that is done of a message whose deadline is among the last that there are.
func TestTimes_AFarDeadline(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		for _, at := range []string{"9998-06-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59+14:00"} {
			envelope := s.ask(expires(at), callback(callbackURL))
			id := bot.accepted(envelope)
			bot.submit(envelope).is(http.StatusAccepted).shows("/id", id)
			s.settle(doc{"what": "message", "id": id})
			s.settle(doc{"what": "retention"})
			bot.get(id).is(http.StatusOK).shows("/status", "open", "/expires_at", at)
			alice.read(id).is(http.StatusOK).shows("/status", "open")
			same(s.t, "what waits", alice.waiting(), []string{id})
			alice.answers(id, "approve").is(http.StatusOK)
			verify(s.t, s.onePush())
			bot.ack(id, nil).is(http.StatusOK)
			bot.get(id).shows("/delivery/state", "acknowledged")
		}
	})
}

func TestTimes_AFarDeadlineComes(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		deadline := time.Date(9998, 6, 1, 0, 0, 0, 0, time.UTC)
		end := []edit{expires(stamp(deadline)), callback(callbackURL), set("/request/default_on_expire", "deny")}
		swept, read := bot.accepted(s.ask(end...)), bot.accepted(s.ask(end...))
		s.now = deadline
		alice.read(swept).is(http.StatusOK).shows("/status", "open")
		s.later(time.Millisecond)
		s.settle(doc{"what": "message", "id": swept})
		for _, id := range []string{swept, read} {
			bot.get(id).is(http.StatusOK).shows("/status", "expired", "/response/response/resolved_at", stamp(deadline))
		}
		same(s.t, "what waits", alice.waiting(), []string{})
		same(s.t, "pushes", len(s.pushes()), 2)
		s.now = deadline.Add(30*day + time.Millisecond)
		s.settle(doc{"what": "retention"})
		bot.get(swept).is(http.StatusOK).shows("/delivery/state", "delivered-to-agent")
		s.now = deadline.Add(60*day + time.Millisecond)
		s.settle(doc{"what": "retention"})
		bot.get(swept).refused(http.StatusGone, ma2h.CodeGone, "")
		s.now = deadline.Add(150*day + time.Millisecond)
		bot.get(swept).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

// TestTimes_TheClockOfATest: what the hub reckons from its clock must be a time, too.
func TestTimes_TheClockOfATest(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		last := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Millisecond)
		at := func(ms int64) http.Header { return http.Header{controlapi.NowHeader: {strconv.FormatInt(ms, 10)}} }
		s.now = time.Time{}
		for _, ms := range []int64{-1, last.UnixMilli() + 1, 1 << 50, 1<<63 - 1} {
			s.send(request{method: "POST", path: "/v1/messages", token: bot.token, header: at(ms), body: s.notify(set("/agent/id", "bot"))}).
				refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		}
		s.now = last
		id := bot.accepted(s.ask())
		bot.cancel(id).is(http.StatusOK).shows("/status", "cancelled")
		bot.get(id).is(http.StatusOK).shows("/delivery/delivered_at", stamp(last))
	})
}

func TestTimes_ARetentionBeyondReckoningIsRefused(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		for days, status := range map[int]int{
			36_500: http.StatusCreated, 36_501: http.StatusBadRequest, 110_000: http.StatusBadRequest, 1 << 50: http.StatusBadRequest,
		} {
			s.control("POST", "tenants", doc{"retention_days": days}).is(status)
		}
	})
}

func TestTimes_TheLongestRetention(t *testing.T) {
	onStoresWith(t, doc{"retention_days": 36_500}, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		bot.cancel(id).is(http.StatusOK)
		s.later(36_500 * day)
		bot.get(id).is(http.StatusOK).shows("/delivery/state", "delivered-to-agent")
	})
}
