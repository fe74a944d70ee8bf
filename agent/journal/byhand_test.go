package journal

import (
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestWhatIsDoneByHandIsCharged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "author")
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := Charge(dir, yesterday, 100); err != nil {
		t.Fatal(err)
	}
	var commands sync.WaitGroup
	if err := Charge(dir, time.Now(), 0.5); err != nil { // the first of the day
		t.Fatal(err)
	}
	for range 8 {
		commands.Go(func() {
			if err := Charge(dir, time.Now(), 0.25); err != nil {
				t.Error(err)
			}
		})
	}
	commands.Wait()
	j := open(t, dir)
	defer shut(t, j)
	if usd := j.Charged(yesterday); usd != 2.5 {
		t.Errorf("$%v were charged, want what was charged today: $2.5", usd)
	}
	if usd := j.Charged(time.Now().Add(time.Hour)); usd != 0 {
		t.Errorf("$%v were charged in the future", usd)
	}
	other := open(t, filepath.Join(t.TempDir(), "reviewer"))
	defer shut(t, other)
	if usd := other.Charged(yesterday); usd != 0 {
		t.Errorf("$%v were charged to another", usd)
	}
}
