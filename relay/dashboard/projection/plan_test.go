package projection

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// Each new pull request is looked up by its identity. That must not read all others: to make the file anew would take a time
// that grows with the square of their number.
func TestAPullRequestIsFoundByItsIdentityWithoutReadingAll(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "page"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(schema); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("EXPLAIN QUERY PLAN "+sameIdentity, 1001, "github", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	plan := ""
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan += detail + "\n"
	}
	if err := rows.Err(); err != nil || strings.Contains(plan, "SCAN") || !strings.Contains(plan, "pulls_by_identity") {
		t.Errorf("the plan is %s, %v", plan, err)
	}
}
