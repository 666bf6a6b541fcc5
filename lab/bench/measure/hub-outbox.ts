import { setTimeout as delay } from 'node:timers/promises'
import { startWheelhouseHubs } from '../hub/hub-servers.ts'
import { eventsOf, type HubScenario } from '../hub/scenario.ts'
import type { Lab } from '../lab.ts'
import type { HubPlan } from '../options.ts'
import type { Row } from '../report.ts'
import { figure } from '../stats.ts'
import { withHubGenerator } from './hub-tools.ts'

const SESSIONS = 100
const HUBS = 2
const LEAST_PER_SECOND = 3_000
const SETTLE_MS = 1_500
const WARM_UP_NUMBERS = 20

/** Measures how fast one outbox relay publishes to two hubs, each with a client watching every session. */
export async function outboxRows(
  lab: Lab,
  plan: HubPlan,
  scenario: HubScenario,
  redisUrl: string,
): Promise<Row[]> {
  const rooms = scenario.rooms.slice(0, SESSIONS)
  const hubs = await startWheelhouseHubs(lab, redisUrl, HUBS)
  try {
    return await withHubGenerator(lab, async ({ generator }) => {
      await generator(
        'sit',
        rooms.flatMap((room) => [hubs.subscription(room, 0), hubs.subscription(room, 1)]),
      )
      const through = async (from: number, to: number) => {
        const publish = await hubs.prepare(eventsOf(rooms, from, to))
        await delay(SETTLE_MS)
        await generator('mark')
        const events = (to - from + 1) * rooms.length
        const [report] = await Promise.all([generator('arrival', events * HUBS, to), publish()])
        return { ...report, perSecond: (report.delivered / HUBS / report.tookMs) * 1_000 }
      }
      await through(1, WARM_UP_NUMBERS)
      const numbers = Math.ceil(plan.backlog / rooms.length)
      const { perSecond, lost, strange } = await through(WARM_UP_NUMBERS + 1, WARM_UP_NUMBERS + numbers)
      const closed = await generator('closed')
      return [
        {
          what: `a backlog of ${figure(numbers * rooms.length)} events, one outbox relay, two hubs`,
          measured:
            `${figure(perSecond)} events/s; ${figure(lost)} lost, ${figure(strange)} duplicated or out of order, ` +
            `${figure(closed)} connections lost`,
          goal: `≥ ${figure(LEAST_PER_SECOND)}/s, none lost, none duplicated`,
          met: perSecond >= LEAST_PER_SECOND && lost === 0 && strange === 0 && closed === 0,
        },
      ]
    })
  } finally {
    await hubs.stop()
  }
}
