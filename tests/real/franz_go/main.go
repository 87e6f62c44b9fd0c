// Command franz-go does the work of one scenario with franz-go, and prints its outcome as JSON.
//
//	franz-go [--user NAME --ca FILE] BOOTSTRAP COMMAND ARGUMENT...
//
// Rules:
//   - An error of Kafka is printed by its name, as part of the outcome. Any other error ends the program with a line.
//   - Everything waits for events, and for no longer than `patience`.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const (
	patience = 60 * time.Second
	password = "secret"
)

var commands = map[string]func(ctx context.Context, options []kgo.Opt, arguments []string) any{
	"produce":  produce,
	"consume":  consume,
	"transact": transact,
	"members":  members,
	"share":    share,
	"admin":    admin,
}

func main() {
	user := flag.String("user", "", "log in as this user by SCRAM-SHA-512")
	ca := flag.String("ca", "", "connect by TLS, and trust this CA")
	flag.Parse()
	options := []kgo.Opt{kgo.SeedBrokers(strings.Split(flag.Arg(0), ",")...), kgo.MetadataMinAge(100 * time.Millisecond)}
	if *user != "" {
		options = append(options, kgo.SASL(scram.Auth{User: *user, Pass: password}.AsSha512Mechanism()))
	}
	if *ca != "" {
		options = append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: trusted(*ca)}))
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	outcome := commands[flag.Arg(1)](ctx, options, flag.Args()[2:])
	must(json.NewEncoder(os.Stdout).Encode(outcome))
}

func trusted(file string) *x509.CertPool {
	pem := got(os.ReadFile(file))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return pool
}

func connect(options []kgo.Opt, more ...kgo.Opt) *kgo.Client {
	return got(kgo.NewClient(append(append([]kgo.Opt{}, options...), more...)...))
}

// named is the name of an error of Kafka, and nil of no error.
func named(err error) any {
	var kafka *kerr.Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &kafka) {
		must(err)
	}
	return kafka.Message
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func got[T any](value T, err error) T {
	must(err)
	return value
}
