import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createSecrets } from '../../src/core/secrets.ts'
import { createRobotTokens } from '../../src/modules/robots/robot-token.ts'
import { type Lab, openLab } from '../bench/lab.ts'
import { type ApiUser, robotsOf, users } from '../bench/rest/fixtures.ts'
import { figure, percentile } from '../bench/stats.ts'
import { gatewayShape, startWheelhouse, type Wheelhouse } from '../bench/targets.ts'
import { createSoakActors, type SoakActors } from './actors.ts'

// `npm run soak`: drives simulated robots for minutes, and reports violations.

/** Accepted delay of a deadman, in addition to pauses of this process. */
const LATEST_STOP_MS = 270
const SILENCE_EVERY_MS = 7_000
/** The first reading of the memory follows after a warm-up. */
const WARM_UP_SHARE = 0.1
const MOST_GROWTH_BYTES = 4e6

const print = (text: string) => process.stdout.write(`${text}\n`)

function options(): { robots: number; minutes: number } {
  const { values } = parseArgs({
    options: { robots: { type: 'string', default: '24' }, minutes: { type: 'string', default: '10' } },
  })
  const robots = Number(values.robots)
  const minutes = Number(values.minutes)
  if (!(Number.isInteger(robots) && robots > 0 && robots <= 500)) throw new Error('--robots: 1 to 500')
  if (!(minutes > 0 && minutes <= 24 * 60))
    throw new Error(`--minutes must be above 0 and at most ${24 * 60}`)
  return { robots, minutes }
}

async function soakActorsFor(lab: Lab, server: Wheelhouse, count: number): Promise<SoakActors[]> {
  const owners = await users(lab.db, count, 'client')
  const operators = await users(lab.db, count, 'operator')
  const ownerIds = owners.map(({ id }) => id)
  const robotIds = await robotsOf(lab.db, ownerIds, 'OFFLINE')
  const tokens = createRobotTokens(createSecrets(lab.secretKey))
  const gateway = `ws://127.0.0.1:${server.destination.port}`
  const sessions = new Map<string, string>()
  const actorGroups = robotIds.map((robotId, index) =>
    createSoakActors({
      robotUrl: `${gateway}/robots/${robotId}/control`,
      robotToken: tokens.issue({ robotId, tokenVersion: 1 }),
      baseUrl: server.apiUrl,
      apiKey: (operators[index] as ApiUser).apiKey,
      sessionId: () => sessions.get(robotId) as string,
    }),
  )
  for (const [index, robotId] of robotIds.entries()) {
    await actorGroups[index]?.startRobot()
    const answer = await fetch(new URL('/api/sessions', server.apiUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${(operators[index] as ApiUser).apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ robotId }),
    })
    const body = (await answer.json()) as { sessionId: string }
    if (answer.status !== 201) throw new Error(`A session was not started: ${JSON.stringify(body)}`)
    sessions.set(robotId, body.sessionId)
    await actorGroups[index]?.startOperator()
  }
  return actorGroups
}

/** Lets one operator after another fall silent, until time is up. */
async function driveFor(actorGroups: readonly SoakActors[], forMs: number): Promise<void> {
  const untilMs = performance.now() + forMs
  for (let turn = 0; performance.now() < untilMs; turn++) {
    actorGroups[turn % actorGroups.length]?.stopSending()
    await delay(Math.min(SILENCE_EVERY_MS / actorGroups.length, untilMs - performance.now()))
  }
}

/** Describes the violations; returns nothing when there are none. */
function verdict(actorGroups: readonly SoakActors[], growthBytes: number, pauseMs: number): string[] {
  const total = (of: (actors: SoakActors) => number) =>
    actorGroups.reduce((sum, actors) => sum + of(actors), 0)
  const sent = total(({ recorder }) => recorder.sent)
  const acknowledged = total(({ recorder }) => recorder.acknowledged)
  const unsent = total(({ recorder }) => recorder.unsent)
  const dropped = actorGroups.flatMap(({ recorder }) => [...recorder.dropped])
  const silences = actorGroups.flatMap(({ recorder }) => recorder.silencesMs)
  const wrong = total(({ recorder }) => recorder.wrongStops)
  const late = silences.filter((ms) => ms > LATEST_STOP_MS + pauseMs).length
  print(`commands: ${figure(sent)} sent, ${figure(acknowledged)} obeyed, ${figure(unsent)} not sent`)
  print(
    `silences: ${silences.length}; last command → stop at the robot, p50 / p99 / max ` +
      `${[0.5, 0.99, 1].map((share) => figure(percentile(silences, share))).join(' / ')} ms`,
  )
  print(`memory of the gateway's process: ${figure(growthBytes / 1e6)} MB more than after the warm-up`)
  print(`this process paused for up to ${figure(pauseMs)} ms`)
  return [
    ...(acknowledged < sent ? [`${sent - acknowledged} commands were not obeyed`] : []),
    ...(unsent > 0 ? [`${unsent} commands could not be sent`] : []),
    ...dropped.map(([why, count]) => `${count} commands were dropped: ${why}`),
    ...(wrong > 0 ? [`${wrong} silences without exactly one stop`] : []),
    ...(late > 0 ? [`${late} late deadmans`] : []),
    ...(growthBytes > MOST_GROWTH_BYTES ? ['the memory grows'] : []),
    ...actorGroups.flatMap(({ recorder }) => recorder.troubles).slice(0, 10),
  ]
}

async function soak(lab: Lab, { robots, minutes }: { robots: number; minutes: number }): Promise<string[]> {
  const server = await startWheelhouse(lab, gatewayShape(lab))
  const actorGroups = await soakActorsFor(lab, server, robots)
  const pauses = monitorEventLoopDelay({ resolution: 5 })
  try {
    print(`${robots} robots, driven at 50 Hz for ${figure(minutes)} minutes`)
    const forMs = minutes * 60_000
    await driveFor(actorGroups, forMs * WARM_UP_SHARE)
    const before = await server.probe('memory')
    pauses.enable()
    await driveFor(actorGroups, forMs * (1 - WARM_UP_SHARE))
    pauses.disable()
    const after = await server.probe('memory')
    for (const actors of actorGroups) actors.rest()
    await delay(1_000)
    return verdict(actorGroups, after.heapBytes - before.heapBytes, pauses.max / 1e6)
  } finally {
    await Promise.all(actorGroups.map((actors) => actors.close()))
    await server.stop()
  }
}

async function main(): Promise<void> {
  const plan = options()
  let close: Lab['close'] = async () => {}
  const interrupted = async () => {
    await close()
    process.exit(130)
  }
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    const lab = await openLab(1, (closeLab) => {
      close = closeLab
    })
    const wrong = await soak(lab, plan)
    print(wrong.length === 0 ? 'Passed.' : `Failed:\n${wrong.map((item) => `  ${item}`).join('\n')}`)
    process.exitCode = wrong.length === 0 ? 0 : 1
  } finally {
    await close()
  }
}

main().catch((cause: unknown) => {
  process.stderr.write(`\n${cause instanceof Error ? cause.stack : String(cause)}\n`)
  process.exitCode = 1
})
