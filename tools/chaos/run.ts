import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { type Cluster, startCluster } from '../cluster/cluster.ts'
import { seedCast } from './cast.ts'
import { examine, type Ground, type Verdict } from './checks/index.ts'
import { assemble, type Company } from './company.ts'
import { createEvidence, type Evidence } from './evidence.ts'
import { bringBack, type Inflicted, inflict } from './faults.ts'
import { readLogs } from './logs.ts'
import { breakMany } from './long.ts'
import type { ChaosOptions } from './options.ts'
import { planFaults } from './plan.ts'
import { createRandom } from './random.ts'
import { settle } from './settle.ts'
import { type Memory, watchProcesses } from './watch.ts'
import { createHubWire, createSocketWire } from './wire.ts'

const WARM_UP_MS = 4_000
/** Load without faults, after the last of them. */
const COOL_DOWN_MS = 5_000
const SETTLE_LIMIT_MS = 60_000
/** Robots that are switched off in the end, so that OFFLINE is looked at too. */
const SWITCHED_OFF = 3
/** Sessions that are left open, so that IN_SESSION is. */
const LEFT_OPEN = 4

/**
 * Short enough that what comes after a grace comes about in minutes; answers are held against their schemas; nobody is
 * refused for asking often.
 */
const settings = {
  RATE_LIMIT_PER_MINUTE: '100000',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '100000', // all clients share one network
  NODE_ENV: 'test',
  ROBOT_GRACE_MS: '15000',
  OPERATOR_GRACE_MS: '5000',
  DEMO: 'false',
}

export interface Outcome {
  readonly faults: readonly Inflicted[]
  readonly evidence: Evidence
  readonly memory: readonly Memory[]
  readonly errors: ReadonlyMap<string, number>
  readonly settledMs: number
  readonly verdicts: readonly Verdict[]
}

interface Stage {
  readonly dataDir: string
  /** Called with what ends everything, as soon as there is something to end; safe to call twice. */
  readonly onClosable: (close: () => Promise<void>) => void
  readonly say: (text: string) => void
  readonly over: AbortSignal
}

export const makeDataDir = () => mkdtemp(join(tmpdir(), 'wheelhouse-chaos-'))
export const removeDataDir = (dataDir: string) => rm(dataDir, { recursive: true, force: true })

/** One run: a cluster, people and robots on it, faults, and what is found in the end. */
export async function runChaos(options: ChaosOptions, stage: Stage): Promise<Outcome> {
  const closers: (() => Promise<unknown> | unknown)[] = []
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= closeAll(closers)
    return closing
  }
  stage.onClosable(close)
  try {
    const { dataDir, say } = stage
    say('starting the cluster')
    const cluster = await startCluster({ dataDir, port: 0, env: settings })
    closers.push(() => cluster.stop())
    const evidence = createEvidence()
    const outcome = await play(cluster, evidence, {
      ...options,
      ...stage,
      onClose: (end) => closers.push(end),
    })
    const errors = readLogs(cluster.nodes, evidence)
    const verdicts = await examine(outcome.ground)
    if (options.disconnects > 0)
      verdicts.push(await breakMany(cluster, outcome.sessions, { ...options, say }))
    return { ...outcome, errors, verdicts, evidence }
  } finally {
    await close()
  }
}

async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  for (const close of closers.toReversed()) {
    try {
      await close()
    } catch (cause) {
      process.stderr.write(`not ended cleanly: ${cause}\n`)
    }
  }
}

type Play = ChaosOptions & Stage & { onClose: (close: () => Promise<unknown> | unknown) => void }

async function play(
  cluster: Cluster,
  evidence: Evidence,
  { seed, minutes, robots, say, over, onClose }: Play,
) {
  const random = createRandom(seed)
  const db = await connect(cluster.databaseUrl)
  const counts = { robots, operators: Math.max(2, robots - 2), owners: Math.max(2, Math.round(robots / 4)) }
  const cast = await seedCast(db, { ...counts, secretKey: cluster.secretKey })
  await db.end()
  const redis = new Redis(cluster.redisUrl)
  redis.on('error', () => {}) // it is about to be killed
  onClose(() => redis.disconnect())
  const hubWire = await createHubWire(cluster.hubUrl)
  onClose(() => hubWire.close())
  const wires = { robots: createSocketWire(), operators: createSocketWire(), 'hub clients': hubWire }
  const company = await assemble({ cluster, cast, evidence, random: random.fork('company'), wires })
  onClose(() => company.close())

  const struck = new Set<string>()
  const watch = watchProcesses(cluster.nodes, { evidence, struck })
  onClose(() => watch.finish())
  company.begin()
  await delay(WARM_UP_MS)
  say(
    `${counts.robots} robots, ${counts.operators} operators and ${counts.owners} owners; faults for ${minutes} min`,
  )
  const faults = await inflict(planFaults(random.fork('plan')), {
    ...{ cluster, redis, wires, evidence, struck, say, over, random: random.fork('faults') },
    untilMs: Date.now() + minutes * 60_000,
  })
  await Promise.all(cluster.nodes.map(bringBack))
  await delay(COOL_DOWN_MS)
  say('no more faults; everything settles')
  const { ground, sessions, settledMs } = await calmDown(cluster, company, evidence, onClose)
  watch.finish()
  return { faults, memory: watch.memory(), ground, sessions, settledMs }
}

/** Everybody finishes what they were at, a few robots are switched off, and what takes a moment gets it. */
async function calmDown(cluster: Cluster, company: Company, evidence: Evidence, onClose: Play['onClose']) {
  await company.end()
  const off = new Set(company.robots.slice(0, SWITCHED_OFF))
  await Promise.all([...off].map((robot) => robot.close()))
  const sessions = await company.openSessions(company.robots.slice(SWITCHED_OFF, SWITCHED_OFF + LEFT_OPEN))
  const db = await connect(cluster.databaseUrl)
  onClose(() => db.end())
  const robots = company.robots.map((robot) => ({ id: robot.cast.id, connected: !off.has(robot) }))
  const ground: Ground = { db, evidence, robots, boards: company.boards }
  return { ground, sessions, settledMs: await settle(ground, SETTLE_LIMIT_MS) }
}

async function connect(connectionString: string): Promise<Client> {
  const db = new Client({ connectionString, application_name: 'chaos' })
  db.on('error', () => {}) // the query in hand reports it
  await db.connect()
  return db
}
