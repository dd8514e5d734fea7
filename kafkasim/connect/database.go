package connect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Database is what lies on the other side of Kafka: tables that sources read and sinks write. It is no part of the
// cluster: Copy it where you fork one.
type Database struct{ tables map[string]*Table }

// NewDatabase is an empty database.
func NewDatabase() *Database { return &Database{tables: map[string]*Table{}} }

// Table is the table with this name; it is made when there is none.
func (d *Database) Table(name string) *Table {
	t := d.tables[name]
	if t == nil {
		t = &Table{Name: name}
		d.tables[name] = t
	}
	return t
}

// Copy is a database of its own with the same rows.
func (d *Database) Copy() *Database {
	c := NewDatabase()
	for name, t := range d.tables {
		c.tables[name] = &Table{Name: name, rows: slices.Clone(t.rows), down: t.down}
	}
	return c
}

// String is a line for each table.
func (d *Database) String() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(d.tables)) {
		out = append(out, name+": "+rowCount(len(d.tables[name].rows)))
	}
	return strings.Join(out, "\n")
}

func rowCount(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// Row is one row. Its number is its place in the table, from 1, as an incrementing primary key counts.
type Row struct{ Key, Value string }

// Table is a table in memory.
type Table struct {
	Name string
	rows []Row
	down bool
}

// Down makes a table answer nobody, as when its database is away, or answer again.
func (t *Table) Down(down bool) *Table {
	t.down = down
	return t
}

// remove takes the row with this key away.
func (t *Table) remove(key string) {
	t.rows = slices.DeleteFunc(t.rows, func(r Row) bool { return r.Key == key })
}

// Insert adds a row at the end.
func (t *Table) Insert(key, value string) *Table {
	t.rows = append(t.rows, Row{key, value})
	return t
}

// upsert replaces the row with this key, or adds one.
func (t *Table) upsert(key, value string) {
	i := slices.IndexFunc(t.rows, func(r Row) bool { return r.Key == key })
	if i < 0 {
		t.Insert(key, value)
		return
	}
	t.rows[i].Value = value
}

// Rows are the rows in order.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// Count is how many rows there are.
func (t *Table) Count() int { return len(t.rows) }

// Repeated is how many rows are there already with the same key and value.
func (t *Table) Repeated() int {
	seen := map[Row]bool{}
	for _, r := range t.rows {
		seen[r] = true
	}
	return len(t.rows) - len(seen)
}

// String is a row on each line, at most twenty.
func (t *Table) String() string {
	const most = 20
	out := []string{fmt.Sprintf("table %s: %s, %d of them repeated", t.Name, rowCount(len(t.rows)), t.Repeated())}
	for i, r := range t.rows[:min(most, len(t.rows))] {
		out = append(out, fmt.Sprintf("%4d  %s  %s", i+1, r.Key, r.Value))
	}
	if n := len(t.rows) - most; n > 0 {
		out = append(out, fmt.Sprintf("… and %d more", n))
	}
	return strings.Join(out, "\n")
}
