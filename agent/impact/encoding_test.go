package impact

import "testing"

// TestASourceInAnotherEncodingIsRead checks that a sheet is made although a file that uses what changed is not in
// UTF-8.
func TestASourceInAnotherEncodingIsRead(t *testing.T) {
	t.Parallel()
	s := sheetOf(t, changing(t, map[string]string{
		"shop.js": "class Shop {\n  openingHours() {\n    return 1\n  }\n}\n",
		"use.js":  "import { Shop } from './shop'\n\nfunction use(\xe9t\xe9) {\n  return \xe9t\xe9.openingHours()\n}\n",
	}, map[string]string{"shop.js": "class Shop {\n  openingHours(day) {\n    return 1\n  }\n}\n"}), "")
	if got := listed(s); len(got) != 1 {
		t.Errorf("listed %q", got)
	}
}
