package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A record, as it is on stdin and in the outcome; its bytes are base64 there.
type record struct {
	Partition int32
	Offset    int64
	Key       []byte
	Value     []byte
	Headers   []kgo.RecordHeader
}

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

// produce TOPIC CODEC: writes the records of stdin; the outcome is the error of each.
func produce(ctx context.Context, options []kgo.Opt, arguments []string) any {
	var given []record
	must(json.NewDecoder(os.Stdin).Decode(&given))
	producer := connect(options, kgo.DefaultProduceTopic(arguments[0]), kgo.ProducerBatchCompression(codecs[arguments[1]]))
	defer producer.Close()
	var records []*kgo.Record
	for _, one := range given {
		records = append(records, &kgo.Record{Key: one.Key, Value: one.Value, Headers: one.Headers})
	}
	outcome := []any{}
	for _, sent := range producer.ProduceSync(ctx, records...) {
		outcome = append(outcome, named(sent.Err))
	}
	return outcome
}

// consume TOPIC COUNT [GROUP]: the outcome is that many committed records, or the first error.
func consume(ctx context.Context, options []kgo.Opt, arguments []string) any {
	if len(arguments) > 2 {
		options = append(options, kgo.ConsumerGroup(arguments[2]))
	}
	consumer := connect(options, reading(arguments[0])...)
	defer consumer.Close()
	taken, err := take(ctx, consumer, got(strconv.Atoi(arguments[1])))
	if err != nil {
		return named(err)
	}
	return taken
}

func reading(topic string) []kgo.Opt {
	// A fetch that waits at the broker holds up the end of its client, and of Doorkeeper.
	soon := kgo.FetchMaxWait(500 * time.Millisecond)
	beginning := kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
	return []kgo.Opt{kgo.ConsumeTopics(topic), beginning, kgo.FetchIsolationLevel(kgo.ReadCommitted()), soon}
}

func take(ctx context.Context, consumer *kgo.Client, count int) ([]record, error) {
	taken := []record{}
	for len(taken) < count {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			taken = append(taken, record{r.Partition, r.Offset, r.Key, r.Value, r.Headers})
		})
	}
	return taken, nil
}

// transact TOPIC ID: four transactions of nine records; the second and the fourth are committed.
func transact(ctx context.Context, options []kgo.Opt, arguments []string) any {
	topic, id := arguments[0], arguments[1]
	manual := kgo.RecordPartitioner(kgo.ManualPartitioner())
	producer := connect(options, kgo.DefaultProduceTopic(topic), kgo.TransactionalID(id), manual)
	defer producer.Close()
	for number := range 4 {
		if err := producer.BeginTransaction(); err != nil {
			return named(err)
		}
		for partition := range 9 {
			value := []byte(strconv.Itoa(number))
			producer.Produce(ctx, &kgo.Record{Partition: int32(partition % 3), Value: value}, nil)
		}
		must(producer.Flush(ctx))
		must(producer.EndTransaction(ctx, kgo.TransactionEndTry(number%2 == 1)))
	}
	return nil
}
