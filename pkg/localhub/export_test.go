package localhub

import "context"

// RekeySteps is Rekey that calls step before each of its steps, and is cut short there when that fails.
func (f Folder) RekeySteps(ctx context.Context, step func(string) error) (Rekeyed, error) {
	return f.rekey(ctx, step)
}
