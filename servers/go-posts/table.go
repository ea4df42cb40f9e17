package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

const poolSize = 10

// How long connecting may take, and a statement including everything that it waits for: a request must be answered
// within 5 s.
const (
	connectTimeout   = 3 * time.Second
	statementTimeout = 4 * time.Second
)

// errNoPost means that the table has no post with that number.
var errNoPost = errors.New("no post of that number")

type post struct {
	No      int64  `json:"no"`
	Title   string `json:"title"`
	Content string `json:"content"`
}

// poolUse is how many connections are in use, and how many statements wait for one.
type poolUse struct{ active, waiting int }

// table is the table of posts in the database.
type table struct {
	db     *sql.DB
	asking atomic.Int64 // statements that run or wait: database/sql reports only how many have ever waited
}

// openTable does not connect: the first statement does. So the server also starts without its database.
func openTable(databaseURL string) (*table, error) {
	address, err := url.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	if address.Scheme != "mysql" || address.User == nil {
		return nil, errors.New("expected mysql://user:password@host:port/database")
	}
	config := mysql.NewConfig()
	config.User = address.User.Username()
	config.Passwd, _ = address.User.Password()
	config.Net, config.Addr = "tcp", address.Host
	config.DBName = strings.TrimPrefix(address.Path, "/")
	config.Timeout = connectTimeout
	config.TLSConfig = "preferred"  // like the drivers of Java
	config.InterpolateParams = true // one round trip for a statement instead of three
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(poolSize)
	return &table{db: db}, nil
}

// insert returns the number of the new post. A single statement is a transaction.
func (t *table) insert(ctx context.Context, title, content string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	t.asking.Add(1)
	defer t.asking.Add(-1)
	result, err := t.db.ExecContext(ctx, "INSERT INTO post (title, content) VALUES (?, ?)", title, content)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// find returns a post, or errNoPost, or an error of the database.
func (t *table) find(ctx context.Context, no int64) (post, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	t.asking.Add(1)
	defer t.asking.Add(-1)
	found := post{No: no}
	row := t.db.QueryRowContext(ctx, "SELECT title, content FROM post WHERE no = ?", no)
	err := row.Scan(&found.Title, &found.Content)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoPost
	}
	return found, err
}

func (t *table) use() poolUse {
	active := t.db.Stats().InUse
	return poolUse{active: active, waiting: max(0, int(t.asking.Load())-active)}
}

func (t *table) close() { _ = t.db.Close() }
