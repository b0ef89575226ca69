package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/record"
)

// logins reads what the caller has to come in with, by use, latest first.
func (h *Hub) logins(ctx context.Context, c *Caller) (map[LoginUse][]LoginView, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	all, now := map[LoginUse][]LoginView{}, h.now()
	with := map[string]string{} // by the login's id
	err := h.eachLogin(ctx, c, func(r record.Record, l *Login) {
		if c.Person.Admits(l) && (l.ExpiresAt.IsZero() || !now.After(l.ExpiresAt)) {
			all[l.Use] = append(all[l.Use], l.view(loginID(r)))
			with[loginID(r)] = l.With
		}
	})
	if err != nil {
		return nil, err
	}
	for use, list := range all {
		all[use] = slices.DeleteFunc(list, func(l LoginView) bool {
			_, there := with[with[l.ID]]
			return with[l.ID] != "" && !there // its token was revoked
		})
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(x, y LoginView) int { return y.CreatedAt.Compare(x.CreatedAt) })
	}
	return all, nil
}

// eachLogin calls f with every login of the caller's, also those that are good no more.
func (h *Hub) eachLogin(ctx context.Context, c *Caller, f func(record.Record, *Login)) error {
	for after := loginSort; ; {
		recs, err := h.Store.List(ctx, PersonKey(c.Person.Ref).Part, after, record.MaxReads)
		if err != nil {
			return fmt.Errorf("list logins: %w", err)
		}
		for _, r := range recs {
			after = r.Sort
			if !strings.HasPrefix(r.Sort, loginSort) {
				continue
			}
			var l Login
			if err := Decode(r, &l); err != nil {
				return err
			}
			f(r, &l)
		}
		if len(recs) < record.MaxReads || !strings.HasPrefix(after, loginSort) {
			return nil
		}
	}
}

func (l *Login) view(id string) LoginView {
	return LoginView{
		ID: id, Via: l.Via, Browser: l.Browser, Name: l.Name, CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt,
	}
}
