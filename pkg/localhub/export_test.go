package localhub

import "context"

// RekeySteps is Rekey that calls step before each of its steps, and is cut short there when that fails.
func (f Folder) RekeySteps(ctx context.Context, step func(string) error) (Rekeyed, error) {
	return f.rekey(ctx, step)
}

// Stage copies into a folder what the backup is made of.
func (b Backup) Stage(ctx context.Context, from, to Folder) error { return b.copy(ctx, from, to) }
