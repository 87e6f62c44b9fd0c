package main

import (
	"context"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What asks franz-go for the group protocol of KIP-848, by the key of a context.
const optIn = "opt_in_kafka_next_gen_balancer_beta"

// A member of a group, and how many partitions it holds.
type member struct {
	client *kgo.Client
	held   int
	moves  chan int // how many partitions came, or went if it is negative
}

func join(options []kgo.Opt, topic, group, protocol string) *member {
	joined := &member{moves: make(chan int, 100)}
	moved := func(sign int) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			joined.moves <- sign * len(partitions[topic])
		}
	}
	more := append(reading(topic),
		kgo.ConsumerGroup(group),
		kgo.HeartbeatInterval(300*time.Millisecond),
		kgo.OnPartitionsAssigned(moved(1)), kgo.OnPartitionsRevoked(moved(-1)), kgo.OnPartitionsLost(moved(-1)),
	)
	switch protocol {
	case "range":
		more = append(more, kgo.Balancers(kgo.RangeBalancer()))
	case "consumer":
		more = append(more, kgo.WithContext(context.WithValue(context.Background(), optIn, true)))
	}
	joined.client = connect(options, more...)
	return joined
}

// settle waits until each member holds that many partitions.
func settle(ctx context.Context, partitions int, members ...*member) int {
	for _, one := range members {
		for one.held != partitions {
			select {
			case moved := <-one.moves:
				one.held += moved
			case <-ctx.Done():
				must(ctx.Err())
			}
		}
	}
	return partitions
}

// members TOPIC GROUP PROTOCOL: a second member comes and goes; six partitions are shared as the outcome says.
func members(ctx context.Context, options []kgo.Opt, arguments []string) any {
	topic, group, protocol := arguments[0], arguments[1], arguments[2]
	first := join(options, topic, group, protocol)
	defer first.client.Close()
	alone := settle(ctx, 6, first)
	second := join(options, topic, group, protocol)
	together := settle(ctx, 3, first, second)
	second.client.Close()
	after := settle(ctx, 6, first)
	producer := connect(options, kgo.DefaultProduceTopic(topic))
	defer producer.Close()
	for number := range 30 {
		producer.Produce(ctx, kgo.StringRecord(strconv.Itoa(number)), nil)
	}
	must(producer.Flush(ctx))
	got(take(ctx, first.client, 30))
	must(first.client.CommitUncommittedOffsets(ctx))
	return []int{alone, together, after}
}

// share TOPIC GROUP: the outcome is how often each of 100 records was accepted, though the first is released once.
func share(ctx context.Context, options []kgo.Opt, arguments []string) any {
	topic, group := arguments[0], arguments[1]
	producer := connect(options, kgo.DefaultProduceTopic(topic))
	defer producer.Close()
	fromStart(ctx, producer, group)
	for number := range 100 {
		producer.Produce(ctx, kgo.StringRecord(strconv.Itoa(number)), nil)
	}
	must(producer.Flush(ctx))
	consumer := connect(options, kgo.ConsumeTopics(topic), kgo.ShareGroup(group), kgo.ShareMaxRecords(10))
	defer consumer.Close()
	accepted, released := map[string]int{}, false
	for len(accepted) < 100 {
		fetches := consumer.PollFetches(ctx)
		must(fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			if !released {
				released = true
				r.Ack(kgo.AckRelease)
				return
			}
			accepted[string(r.Value)]++
			r.Ack(kgo.AckAccept)
		})
		must(consumer.FlushAcks(ctx))
	}
	return accepted
}

// fromStart has the share group begin at the start of each partition.
func fromStart(ctx context.Context, client *kgo.Client, group string) {
	setting := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	setting.Name, setting.Value = "share.auto.offset.reset", kmsg.StringPtr("earliest")
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	resource.Configs = append(resource.Configs, setting)
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Resources = append(request.Resources, resource)
	got(request.RequestWith(ctx, client))
}
