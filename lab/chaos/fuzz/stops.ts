import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { OperatorLink, RobotLink, ticketsOf } from '@wheelhouse/sdk'
import { createRequests, registerRobot } from './actors.ts'
import { LOADS, type Load, type LoadData } from './loads.ts'
import { startPlatform } from './platform.ts'

/** Longest acceptable times at the 99th percentile, on two cores. */
const STOP_LIMIT_MS = 100
const HEALTH_LIMIT_MS = 250
/** A stop that has not arrived by then counts as lost. */
const LOST_MS = 10_000
const PAUSE_MS = 150
const HEALTH_EVERY_MS = 100
/** Time for a load to take effect, and to end. */
const SETTLE_MS = 2_000

interface Figures {
  readonly load: Load
  readonly health: readonly number[]
  readonly overRest: readonly number[]
  readonly overGateway: readonly number[]
}

/**
 * Stops a robot again and again, over REST by its owner and over the gateway by its operator, while another account sends the
 * most expensive legal input of one kind after the other.
 * @returns the lines of a table, and the loads under which a stop or the health check was too slow
 */
export async function measureStops(
  { checkout, secondsPerLoad }: { checkout: string; secondsPerLoad: number },
  { dataDir, print, over }: { dataDir: string; print: (text: string) => void; over: AbortSignal },
): Promise<{ findings: string[] }> {
  const platformDir = join(dataDir, 'platform')
  await mkdir(platformDir, { recursive: true })
  const platform = await startPlatform(checkout, platformDir, { limited: true })
  const findings: string[] = []
  try {
    const victim = await createVictim(platform)
    const workerData: LoadData = { baseUrl: platform.baseUrl, key: platform.keys.admin }
    const worker = new Worker(new URL('./heavy-load.ts', import.meta.url), { workerData })
    const ready = Promise.withResolvers<void>()
    worker.on('error', ready.reject)
    worker.on('message', (message: string) => (message === 'ready' ? ready.resolve() : print(message)))
    await ready.promise
    print(
      'load        health p50 / p99    stop over REST p50 / p99    stop over the gateway p50 / p99    (ms)',
    )
    for (const load of LOADS) {
      if (over.aborted || !platform.alive) break
      worker.postMessage(load)
      await delay(SETTLE_MS)
      const figures = await measure(load, platform.baseUrl, victim, secondsPerLoad * 1_000)
      worker.postMessage(undefined)
      print(rowOf(figures))
      findings.push(...problemsOf(figures))
      await delay(SETTLE_MS)
    }
    if (!platform.alive) findings.push(`the process ended:\n${platform.lastOutput()}`)
    await worker.terminate()
    await victim.close()
  } finally {
    await platform.stop()
  }
  return { findings }
}

/** Measures for some time. Stops alternate between both ways; each is cleared again. */
async function measure(load: Load, baseUrl: string, victim: Victim, ms: number): Promise<Figures> {
  const endsAtMs = performance.now() + ms
  const health: number[] = []
  const checks = (async () => {
    while (performance.now() < endsAtMs) {
      health.push(await timeOf(() => fetch(`${baseUrl}/api/health`).then((answer) => answer.text())))
      await delay(HEALTH_EVERY_MS)
    }
  })()
  const overRest: number[] = []
  const overGateway: number[] = []
  while (performance.now() < endsAtMs) {
    overRest.push(await victim.stopOver('rest'))
    await delay(PAUSE_MS)
    overGateway.push(await victim.stopOver('gateway'))
    await delay(PAUSE_MS)
  }
  await checks
  return { load, health, overRest, overGateway }
}

type Victim = Awaited<ReturnType<typeof createVictim>>

/** Creates the robot that is stopped, with its owner and its operator, who are other accounts than that of the load. */
async function createVictim(platform: Awaited<ReturnType<typeof startPlatform>>) {
  const { baseUrl, keys } = platform
  const { request, must } = createRequests(baseUrl)
  const robot = await registerRobot(must, keys.owner, 'victim')
  let stopped = () => {}
  const link = new RobotLink({
    url: robot.url,
    token: robot.token,
    onStop: ({ latched }) => {
      if (latched) stopped()
    },
  })
  await link.connect()
  const { sessionId } = await must(keys.operator, 'POST', '/api/sessions', { robotId: robot.id })
  const path = `/api/sessions/${sessionId}`
  const operator = new OperatorLink({
    getTicket: ticketsOf({ baseUrl, token: keys.operator, sessionId: String(sessionId), part: 'control' }),
  })
  await operator.connect()

  /** Clears the stop for the next one; gives up after a while. */
  async function isCleared(sentMs: number): Promise<boolean> {
    while (performance.now() - sentMs < 3 * LOST_MS) {
      const clearing = request(keys.owner, 'PATCH', path, { action: 'clear_stop' }).catch(() => undefined)
      if ((await orLost(clearing))?.status === 200) return true
      await delay(PAUSE_MS)
    }
    return false
  }

  return {
    /** Stops the robot; returns after how many milliseconds it knew, `LOST_MS` if it never did or if the stop cannot be cleared. */
    async stopOver(way: 'rest' | 'gateway'): Promise<number> {
      const arrived = Promise.withResolvers<void>()
      stopped = arrived.resolve
      const sentMs = performance.now()
      const answered =
        way === 'rest'
          ? request(keys.owner, 'PATCH', path, { action: 'emergency_stop' })
          : operator.stop('measured')
      await orLost(arrived.promise)
      const tookMs = performance.now() - sentMs
      await orLost(Promise.resolve(answered).catch(() => {}))
      return (await isCleared(sentMs)) ? tookMs : LOST_MS
    },
    async close(): Promise<void> {
      await operator.close()
      await link.close()
    },
  }
}

/** Waits for the work, but no longer than for a lost stop. */
const orLost = <T>(work: Promise<T>): Promise<T | undefined> =>
  Promise.race([work, delay(LOST_MS, undefined)])

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work().catch(() => {})
  return performance.now() - startedMs
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function rowOf({ load, health, overRest, overGateway }: Figures): string {
  const pair = (values: readonly number[]) =>
    `${percentile(values, 0.5).toFixed(0).padStart(7)} / ${percentile(values, 0.99).toFixed(0).padStart(5)}`
  return `${load.padEnd(10)}${pair(health).padStart(16)}${pair(overRest).padStart(26)}${pair(overGateway).padStart(30)}    ${overRest.length + overGateway.length} stops`
}

function problemsOf({ load, health, overRest, overGateway }: Figures): string[] {
  const checked = [
    ['the health check', health, HEALTH_LIMIT_MS],
    ['a stop over REST', overRest, STOP_LIMIT_MS],
    ['a stop over the gateway', overGateway, STOP_LIMIT_MS],
  ] as const
  return checked.flatMap(([what, values, limitMs]) => {
    const worstMs = percentile(values, 0.99)
    const lost = values.filter((ms) => ms >= LOST_MS).length
    return worstMs <= limitMs
      ? []
      : [
          `${load}: ${what} took ${worstMs.toFixed(0)} ms at p99 (limit ${limitMs})${lost > 0 ? `, ${lost} lost` : ''}`,
        ]
  })
}
