import { seedHub } from '../hub/scenario.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Section } from '../report.ts'
import { resetPresence } from '../seed.ts'
import { figure } from '../stats.ts'
import { fanOutRows } from './hub-fanout.ts'
import { latencyRows } from './hub-latency.ts'
import { memoryRows } from './hub-memory.ts'
import { outboxRows } from './hub-outbox.ts'
import { stormRows } from './hub-storm.ts'

const title = 'The hub on several nodes'

/** Measures events on their way to watching clients, next to Socket.IO with the same adapter. */
export async function measureHub(lab: Lab, { hub: plan }: Plan): Promise<Section> {
  const { redisUrl } = lab
  if (!redisUrl) return { title, rows: [], notes: ['Not measured: several nodes need redis-server.'] }
  await resetPresence(lab.db, 'away')
  const scenario = await seedHub(lab.db, Math.max(plan.returning, plan.idleSockets))
  try {
    const fanOut = await fanOutRows(lab, plan, scenario, redisUrl)
    const latency = await latencyRows(lab, plan, scenario, redisUrl)
    const memory = await memoryRows(lab, plan, scenario, redisUrl)
    const storm = await stormRows(lab, plan, scenario, redisUrl)
    const outbox = await outboxRows(lab, plan, scenario, redisUrl)
    return {
      title,
      rows: [...fanOut, ...outbox, ...latency.rows, ...memory, ...storm],
      notes: [
        `Fan-out: ${figure(plan.deliveries)} deliveries a run after half as many for warm-up; median of ${plan.runs} runs. ` +
          'All contenders send the same bytes: Wheelhouse reads the events from the outbox, which receives them in one transaction; ' +
          'the others have them in memory. Time is from the first delivery to the last. CPU is that of all hub processes, without ' +
          'PostgreSQL, Redis and the generator.',
        'Clients are raw TCP sockets that implement Socket.IO and check the number of every event. ' +
          'Socket.IO runs with the sharded Redis adapter in the mode that Wheelhouse uses (one channel for all rooms), also as a single process; ' +
          'ws is a single process.',
        ...latency.notes,
        `Memory: growth of the process after garbage collection, over ${figure(plan.idleSockets)} connections, each of another user watching another session.`,
        `Reconnection: ${figure(plan.returning)} users with an API key each watch another session; all are on one hub, which is killed with SIGKILL, ` +
          'and connect to the second one; or the client cuts all connections and they return to the same hub. Complete: connected, authenticated, and every entry of the log read ' +
          '(five were written in the interval). At once: every client reconnects immediately, and only a second attempt waits; ' +
          'with jitter: all wait for the sdk’s backoff, up to a quarter of a second at first. ' +
          'The use of every key is recorded as well.',
      ],
    }
  } finally {
    await scenario.cleanUp()
  }
}
