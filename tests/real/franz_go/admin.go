package main

import (
	"context"
	"sort"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// admin TOPIC GROUP: one topic from its creation to its end, with offsets of a group; the outcome has each result.
func admin(ctx context.Context, options []kgo.Opt, arguments []string) any {
	topic, group := arguments[0], arguments[1]
	asking := connect(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer asking.Close()
	client := kadm.NewClient(asking)
	outcome := map[string]any{}

	brokers := got(client.ListBrokers(ctx))
	outcome["brokers"] = brokers.NodeIDs()
	for range 2 {
		created, err := client.CreateTopic(ctx, 2, 3, nil, topic)
		outcome["created"] = append(list(outcome["created"]), named(err), created.ErrMessage)
	}
	outcome["grown"] = named(got(client.UpdatePartitions(ctx, 3, topic))[topic].Err)
	hour := "3600000"
	change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &hour}}
	outcome["altered"] = named(got(client.AlterTopicConfigs(ctx, change, topic))[0].Err)
	outcome["settings"] = settings(ctx, client, topic, "retention.ms", hour)

	for range 10 {
		must(asking.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: 1, Value: []byte("x")}).FirstErr())
	}
	var ends kadm.Offsets
	ends.Add(kadm.Offset{Topic: topic, Partition: 1, At: 4})
	deleted, _ := got(client.DeleteRecords(ctx, ends)).Lookup(topic, 1)
	outcome["records deleted"] = []any{deleted.LowWatermark, named(deleted.Err)}
	start, _ := got(client.ListStartOffsets(ctx, topic)).Lookup(topic, 1)
	end, _ := got(client.ListEndOffsets(ctx, topic)).Lookup(topic, 1)
	outcome["offsets"] = []int64{start.Offset, end.Offset}

	var committed kadm.Offsets
	committed.Add(kadm.Offset{Topic: topic, Partition: 1, At: 7, LeaderEpoch: -1, Metadata: "by hand"})
	must(client.CommitAllOffsets(ctx, group, committed))
	offset, _ := got(client.FetchOffsets(ctx, group)).Lookup(topic, 1)
	outcome["committed"] = []any{offset.At, offset.Metadata}
	outcome["group"] = got(client.ListGroups(ctx))[group].State
	outcome["group deleted"] = named(got(client.DeleteGroups(ctx, group))[group].Err)
	for range 2 {
		outcome["deleted"] = append(list(outcome["deleted"]), named(got(client.DeleteTopics(ctx, topic))[topic].Err))
	}
	return outcome
}

// settings are the names of all settings of the topic, once the broker that is asked knows this value.
func settings(ctx context.Context, client *kadm.Client, topic, name, value string) []string {
	for {
		names, seen := []string{}, false
		for _, setting := range got(client.DescribeTopicConfigs(ctx, topic))[0].Configs {
			names = append(names, setting.Key)
			seen = seen || setting.Key == name && setting.MaybeValue() == value
		}
		if seen {
			sort.Strings(names)
			return names
		}
	}
}

func list(value any) []any {
	before, _ := value.([]any)
	return before
}
