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
	for after := loginSort; ; {
		recs, err := h.Store.List(ctx, PersonKey(c.Person.Ref).Part, after, record.MaxReads)
		if err != nil {
			return nil, fmt.Errorf("list logins: %w", err)
		}
		for _, r := range recs {
			after = r.Sort
			id, isLogin := strings.CutPrefix(r.Sort, loginSort)
			if !isLogin {
				continue
			}
			var l Login
			if err := Decode(r, &l); err != nil {
				return nil, err
			}
			if c.Person.Admits(&l) && (l.ExpiresAt.IsZero() || !now.After(l.ExpiresAt)) {
				all[l.Use] = append(all[l.Use], l.view(id))
			}
		}
		if len(recs) < record.MaxReads || !strings.HasPrefix(after, loginSort) {
			break
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(x, y LoginView) int { return y.CreatedAt.Compare(x.CreatedAt) })
	}
	return all, nil
}

func (l *Login) view(id string) LoginView {
	return LoginView{
		ID: id, Via: l.Via, Browser: l.Browser, Name: l.Name, CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt,
	}
}
