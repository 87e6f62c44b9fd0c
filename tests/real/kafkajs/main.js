// Does the work of one scenario with kafkajs, and prints its outcome as JSON.
//
//     node main.js [--user NAME --ca FILE] BOOTSTRAP COMMAND ARGUMENT...
//
// Rules:
// * An error of Kafka is printed by its name, as the outcome. Any other error ends the program with its trace.
// * Everything waits for events, and for no longer than `patience`.

const fs = require('node:fs')
const { parseArgs } = require('node:util')
const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require('kafkajs')

CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')

const patience = 60_000 // milliseconds
const password = 'secret'
const codecs = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy }
const bytes = text => (text === null ? null : Buffer.from(text, 'base64'))
const text = data => (data === null ? null : data.toString('base64'))

function reader(kafka, groupId) {
  return kafka.consumer({ groupId, heartbeatInterval: 300, rebalanceTimeout: 10_000, maxWaitTimeInMs: 200 })
}

// Runs the consumer until it has read that many records, and gives them.
async function take(consumer, topic, count) {
  const taken = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
    const eachMessage = async ({ message }) => {
      const headers = Object.entries(message.headers ?? {}).map(([Key, value]) => ({ Key, Value: text(value) }))
      taken.push({ Key: text(message.key), Value: text(message.value), Headers: headers })
      if (taken.length === count) resolve()
    }
    consumer.run({ eachMessage }).catch(reject)
  })
  await consumer.disconnect()
  return taken
}

const commands = {
  // Writes the records of stdin; the outcome is the number of answers.
  async produce(kafka, topic, codec) {
    const messages = JSON.parse(fs.readFileSync(0)).map(({ Key, Value, Headers }) => ({
      key: bytes(Key),
      value: bytes(Value),
      headers: Object.fromEntries(Headers.map(header => [header.Key, bytes(header.Value)])),
    }))
    const producer = kafka.producer()
    await producer.connect()
    const answers = await producer.send({ topic, compression: codecs[codec], messages })
    await producer.disconnect()
    return answers.length
  },

  // The outcome is that many committed records.
  async consume(kafka, topic, count, group) {
    return await take(reader(kafka, group), topic, Number(count))
  },

  // Four transactions of nine records; the second and the fourth are committed. Each is of one partition: kafkajs 2.2.4
  // writes records twice where one of several brokers answers CONCURRENT_TRANSACTIONS, directly too.
  async transact(kafka, topic, id) {
    const producer = kafka.producer({ transactionalId: id, idempotent: true, maxInFlightRequests: 1 })
    await producer.connect()
    for (let number = 0; number < 4; number++) {
      const transaction = await producer.transaction()
      const messages = Array(9).fill({ value: `${number}`, partition: number % 3 })
      await transaction.send({ topic, messages })
      await (number % 2 ? transaction.commit() : transaction.abort())
    }
    await producer.disconnect()
    return null
  },

  // A second member comes and goes; six partitions are shared as the outcome says.
  async members(kafka, topic, group) {
    const held = new Map()
    let moved = () => {}
    const join = async name => {
      const member = reader(kafka, group)
      member.on(member.events.GROUP_JOIN, ({ payload }) => {
        held.set(name, (payload.memberAssignment[topic] ?? []).length)
        moved()
      })
      await member.connect()
      await member.subscribe({ topic })
      await member.run({ eachMessage: async () => {} })
      return member
    }
    const settle = async (partitions, ...names) => {
      while (names.some(name => held.get(name) !== partitions)) await new Promise(resolve => (moved = resolve))
      return partitions
    }
    const first = await join('first')
    const alone = await settle(6, 'first')
    const second = await join('second')
    const together = await settle(3, 'first', 'second')
    await second.disconnect()
    const after = await settle(6, 'first')
    await first.disconnect()
    return [alone, together, after]
  },
}

async function main() {
  const options = { user: { type: 'string' }, ca: { type: 'string' } }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [bootstrap, command, ...given] = positionals
  const secured = values.user && {
    ssl: { ca: [fs.readFileSync(values.ca)] },
    sasl: { mechanism: 'scram-sha-512', username: values.user, password },
  }
  const kafka = new Kafka({ brokers: bootstrap.split(','), logLevel: logLevel.NOTHING, ...secured })
  const late = setTimeout(() => { throw new Error(`${command} took longer than ${patience} ms`) }, patience)
  let outcome
  try {
    outcome = await commands[command](kafka, ...given)
  } catch (error) {
    const named = error.type ?? error.cause?.type
    if (!named) throw error
    outcome = named
  }
  clearTimeout(late)
  fs.writeSync(1, JSON.stringify(outcome))
  process.exit() // a producer or consumer that failed may keep its connections
}

main()
