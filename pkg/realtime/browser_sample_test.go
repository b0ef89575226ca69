//go:build browser

package realtime_test

import "time"

// sampleDay fills an inbox as a day's work does, and returns the ids of some messages by a short name.
func (s *server) sampleDay() map[string]string {
	s.t.Helper()
	ids := map[string]string{}
	deploy, clerk, books := s.sampleAgent("deploybot/dev-team"), s.sampleAgent("crm-clerk"), s.sampleAgent("bookkeeper")
	ci, keys := s.sampleAgent("ci"), s.sampleAgent("keysmith")

	done := deploy.accepted(s.ask(sampleShip, set("/title", "Ship build 4126 to staging?"), set("/agent/run_id", "run-87")))
	s.owner.answers(done, "ship")
	declined := clerk.accepted(s.ask(set("/title", "Delete 212 contacts that bounced?")))
	s.owner.resolve(declined, doc{"resolution": "declined", "comment": "Not before the audit."})

	ci.accepted(s.notify(set("/title", "The nightly build is green"), set("/agent/run_id", "nightly-311")))
	ci.accepted(s.notify(set("/title", "Certificate of api.example renewed for 90 days"), set("/priority", "low")))

	ids["form"] = books.accepted(s.ask(sampleForm))
	ids["task"] = keys.accepted(s.task(sampleTask))
	ids["choice"] = clerk.accepted(s.ask(set("/title", "Which of these two customers is “Meyer & Sons”?"), drop("expires_at"),
		set("/agent/run_id", "import-2026-11"), set("/request", doc{"mode": "select", "permissions": doc{"allow_edit": true},
			"options":           []doc{{"value": "1042", "label": "Meyer & Sons GmbH, 1042"}, {"value": "2210", "label": "Meyer Sons Ltd, 2210"}},
			"allowed_resolvers": []string{s.owner.actor}})))
	ids["ship"] = deploy.accepted(s.ask(sampleShip))
	return ids
}

// sampleShip makes an ask the question whether to ship.
func sampleShip(d doc) {
	soon := time.Now().Add(12*time.Minute + 30*time.Second)
	for _, e := range []edit{
		set("/title", "Ship build 4127 to production?"), set("/agent/run_id", "run-88"), expires(soon),
		set("/body", "All checks are green. The migration adds **one column** and takes no lock.\n\n"+
			"Rolling back needs the image before, which is kept for seven days: see [the plan](https://ci.example/4127)."),
		set("/request/mode", "select"), set("/request/permissions/allow_edit", true),
		set("/request/options", []doc{
			{"value": "ship", "label": "Ship now", "description": "To all three regions at once"},
			{"value": "hold", "label": "Hold for review", "description": "Waits until the pull request is reviewed"},
		}),
		set("/request/default_on_expire", "hold"),
		set("/context", []doc{
			{"kind": "text", "text": "db/migrations/0042_orders.sql\n+ alter table orders add column note text;\n" +
				"- create index concurrently orders_note on orders (note);"},
			{"kind": "data", "data": doc{"unit tests": "2,114 passed", "p99 under load": "41 ms", "limit": "60 ms",
				"report": "https://ci.example/4127/report"}},
		}),
	} {
		e(d)
	}
}

// sampleForm makes an ask a form.
func sampleForm(d doc) {
	for _, e := range []edit{
		set("/title", "Fill in what invoice 2026-118 lacks"), set("/agent/run_id", "run-12"),
		expires(time.Now().Add(100 * time.Minute)), set("/priority", "high"),
		set("/body", "The supplier left two fields empty. Nothing is paid before they are there."),
		set("/request/mode", "input"),
		set("/request/schema", doc{
			"type": "object", "required": []string{"vat", "category"},
			"properties": doc{
				"vat":      doc{"type": "string", "title": "VAT number", "pattern": "^[A-Z]{2}[0-9]{9}$", "description": "As on the letterhead"},
				"category": doc{"type": "string", "title": "Category", "enum": []string{"Hosting", "Travel", "Office"}},
				"paid":     doc{"type": "boolean", "title": "Paid already"},
				"due":      doc{"type": "string", "format": "date", "title": "Due"},
			},
		}),
	} {
		e(d)
	}
}

// sampleTask makes a task one with steps.
func sampleTask(d doc) {
	for _, e := range []edit{
		set("/title", "Replace the backup disk of nas-2"), set("/agent/run_id", "run-5"), expires(time.Now().Add(26 * time.Hour)),
		set("/action/instructions", "Disk 3 reports **14 bad sectors**. A new one lies in the drawer below the rack."),
		set("/action/checklist", []doc{{"text": "Take out disk 3, its light is amber"}, {"text": "Put in the new one"},
			{"text": "Wait until the light is green"}}),
		set("/action/verification", "The rack’s page says *rebuilding*."),
	} {
		e(d)
	}
}

// sampleMany makes an ask one with more options than a row holds.
func sampleMany(d doc) {
	set("/title", "When shall the maintenance window be?")(d)
	set("/request/mode", "select")(d)
	set("/request/options", []doc{
		{"value": "mon", "label": "Monday, 02:00"}, {"value": "tue", "label": "Tuesday, 02:00"},
		{"value": "wed", "label": "Wednesday, 02:00"}, {"value": "thu", "label": "Thursday, 02:00"},
		{"value": "sat", "label": "Saturday, 05:00"}, {"value": "sun", "label": "Sunday, 05:00"},
	})(d)
}
