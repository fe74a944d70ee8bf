// Package sqlitefile opens the SQLite files of the relay, each of which one process writes and any number of readers of
// that process read. It owns how a file is named and what counts as damage; it stores nothing itself.
package sqlitefile

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // the database/sql driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Ends are those of the names of a file and of the files that SQLite keeps beside it.
var Ends = []string{"", "-wal", "-shm"}

// File is an open SQLite file in WAL mode.
type File struct {
	// Writer has one connection, which serializes what is written. Its transactions lock the file when they begin.
	Writer *sql.DB
	Reader *sql.DB
}

// Open opens the file at a path, with pragmas such as "synchronous(FULL)" for each connection. SQLite creates the file
// when it is first used, and only then reports what is wrong with it.
func Open(path string, pragmas ...string) (*File, error) {
	writer, err := sql.Open("sqlite", uri(path, "immediate", pragmas))
	if err != nil {
		return nil, err
	}
	reader, err := sql.Open("sqlite", uri(path, "deferred", pragmas))
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	writer.SetMaxOpenConns(1)
	reader.SetMaxOpenConns(4)
	return &File{writer, reader}, nil
}

// uri names the file as a URI, in which a path may hold any character (https://www.sqlite.org/uri.html).
func uri(path, txlock string, pragmas []string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	query := url.Values{"_pragma": append([]string{"journal_mode(WAL)"}, pragmas...), "_txlock": {txlock}}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}).String()
}

// Close closes all connections.
func (f *File) Close() error { return errors.Join(f.Reader.Close(), f.Writer.Close()) }

// Scan calls each for every row that a query returned. The columns of the row are in into then.
func Scan(rows *sql.Rows, err error, into []any, each func() error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Size returns how many bytes the file at a path takes, with what is written but not yet copied into it.
func Size(path string) (bytes int64) {
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(path + end); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// NoDatabase reports whether an error says that the file is no SQLite file, or that its first page is damaged.
func NoDatabase(err error) bool { return code(err) == sqlite3.SQLITE_NOTADB }

// Damaged reports whether an error is about the content of the file, rather than about reading it.
func Damaged(err error) bool { return NoDatabase(err) || code(err) == sqlite3.SQLITE_CORRUPT }

// code returns the primary code of an error of SQLite (https://www.sqlite.org/rescode.html); 0 for other errors.
func code(err error) int {
	if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		return failed.Code() & 0xff
	}
	return 0
}
