import { setTimeout as delay } from 'node:timers/promises'
import type { Lab } from '../lab.ts'
import { withGenerator } from '../measure/relay-runs.ts'
import type { VideoPlan } from '../options.ts'
import { startWheelhouseRelay } from '../relay/wheelhouse.ts'
import { median } from '../stats.ts'
import { openEnvironment, stream } from './environment.ts'
import { startWheelhouseForwarder } from './forwarders.ts'

const PAIRS = 10
const HZ = 50
/** As in a session: the operator, its owner, and another window. */
const VIEWERS = 3
const ROUNDS = 3
const WARM_UP_MS = 1_000

/** The p99 of control, one way, in microseconds: the medians of the rounds. */
export interface ControlBesideVideo {
  readonly withoutUs: number
  readonly besideUs: number
}

/** Measures control while a camera of another robot is forwarded, and while it is silent, by turns. */
export async function measureControlBesideVideo(
  lab: Lab,
  { seconds }: VideoPlan,
): Promise<ControlBesideVideo> {
  const relay = await startWheelhouseRelay(lab, PAIRS)
  try {
    return await withGenerator(lab, async ({ generator }) => {
      await relay.connect(generator, 0, PAIRS)
      const environment = await openEnvironment(lab, () => startWheelhouseForwarder(lab, VIEWERS))
      try {
        await environment.join(0, VIEWERS)
        const p99Us = async () => {
          await generator('startSteady', { pairs: PAIRS, hz: HZ, form: 'JSON', mode: 'resting' })
          await delay(WARM_UP_MS)
          await generator('mark')
          await delay(seconds * 1_000)
          const { latency } = await generator('report')
          await generator('stopDriving')
          return latency.p99Us
        }
        const [without, beside]: [number[], number[]] = [[], []]
        for (let round = 0; round < ROUNDS; round++) {
          await environment.camera('pause')
          without.push(await p99Us())
          await environment.camera('start', stream)
          beside.push(await p99Us())
        }
        return { withoutUs: median(without), besideUs: median(beside) }
      } finally {
        await environment.close()
      }
    })
  } finally {
    await relay.stop()
    await relay.cleanUp()
  }
}
