// Package learn owns what guidelines learn from the record of the reviews that they were the law of: what changed
// guidelines find in rounds that were reviewed before, and how a row whose findings were mostly wrong could be
// worded. It posts nothing and stores nothing; a person decides.
package learn
