// Package learn evaluates guidelines on the recorded reviews that used them: which findings changed
// guidelines produce in earlier rounds, and how a row whose findings were mostly wrong could be worded. It
// posts nothing and stores nothing; a person decides.
package learn
