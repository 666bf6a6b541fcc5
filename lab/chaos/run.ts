import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { type Cluster, startCluster } from '../cluster/cluster.ts'
import { assemble, type LoadActors, type OpenSession } from './actors.ts'
import { type Environment, examine, type Verdict } from './checks/index.ts'
import { createHubWire, createSocketWire } from './cuttable-connections.ts'
import { runDisconnects } from './disconnects.ts'
import { createEvidence, type Evidence } from './evidence.ts'
import { type InjectedFault, injectFault, recover } from './faults.ts'
import { type Fixtures, seedFixtures } from './fixtures.ts'
import { readLogs } from './logs.ts'
import type { ChaosOptions } from './options.ts'
import { planFaults, planRecordingFaults } from './plan.ts'
import { type Memory, watchProcesses } from './process-watch.ts'
import { waitForQuiescence, waitForRecordings } from './quiescence.ts'
import { createRandom } from './random.ts'
import { createStoredRecordings, recordEverything } from './recordings.ts'

const PROGRESS_STEPS = 10

/** `--long`: breaks many connections to the hubs of a healthy cluster, in these open sessions. */
async function breakMany(
  { nodes, baseUrl }: Pick<Cluster, 'nodes' | 'baseUrl'>,
  sessions: readonly OpenSession[],
  { disconnects, seed, print }: { disconnects: number; seed: number; print: (text: string) => void },
): Promise<Verdict> {
  const hubs = nodes.filter(({ kind }) => kind === 'hub').map(({ port }) => `http://127.0.0.1:${port}`)
  let reportedShares = 0
  const onProgress = (breaks: number) => {
    if (breaks < ((reportedShares + 1) * disconnects) / PROGRESS_STEPS) return
    reportedShares++
    print(`${breaks.toLocaleString('en')} connections broken`)
  }
  const report = await runDisconnects({ hubs, baseUrl, sessions, breaks: disconnects, seed, onProgress })
  const { breaks, clients, acknowledged, entries, problems } = report
  const figures = `${breaks} breaks of ${clients} clients, ${acknowledged} messages acknowledged, ${entries} entries`
  return { name: `no gap, duplicate or reordering after disconnects (${figures})`, wrong: problems }
}

const WARM_UP_MS = 4_000
/** Load without faults, after the last fault. */
const COOL_DOWN_MS = 5_000
const SETTLE_LIMIT_MS = 180_000
/** A recording waits up to two minutes for a stream that does not end, and its job a minute for a worker that was killed. */
const RECORDINGS_LIMIT_MS = 480_000
/** Robots that are switched off at the end, to check OFFLINE. */
const SWITCHED_OFF = 3
/** Sessions that stay open at the end, to check IN_SESSION. */
const LEFT_OPEN = 4

/**
 * Graces are short, so that the run ends in minutes; responses are validated against their schemas; rate limits are
 * too high to matter.
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
  readonly faults: readonly InjectedFault[]
  readonly evidence: Evidence
  readonly memory: readonly Memory[]
  readonly errors: ReadonlyMap<string, number>
  readonly settledMs: number
  readonly verdicts: readonly Verdict[]
}

interface Fixture {
  readonly dataDir: string
  /** Receives the function that ends the run, as soon as there is something to end; safe to call twice. */
  readonly onClosable: (close: () => Promise<void>) => void
  readonly print: (text: string) => void
  readonly over: AbortSignal
}

export const makeDataDir = () => mkdtemp(join(tmpdir(), 'wheelhouse-chaos-'))
export const removeDataDir = (dataDir: string) => rm(dataDir, { recursive: true, force: true })

/** Runs the bench once: starts a cluster and its actors, injects faults, and checks the invariants. */
export async function runChaos(options: ChaosOptions, fixture: Fixture): Promise<Outcome> {
  const closers: (() => Promise<unknown> | unknown)[] = []
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= closeAll(closers)
    return closing
  }
  fixture.onClosable(close)
  try {
    const { dataDir, print } = fixture
    print('starting the cluster')
    const cluster = await startCluster({ dataDir, port: 0, s3: true, env: settings })
    closers.push(() => cluster.stop())
    const evidence = createEvidence()
    const outcome = await run(cluster, evidence, {
      ...options,
      ...fixture,
      onClose: (end) => closers.push(end),
    })
    const errors = readLogs(cluster.nodes, evidence)
    const verdicts = await examine(outcome.environment)
    if (options.disconnects > 0)
      verdicts.push(await breakMany(cluster, outcome.sessions, { ...options, print }))
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

type ChaosRun = ChaosOptions & Fixture & { onClose: (close: () => Promise<unknown> | unknown) => void }

async function run(
  cluster: Cluster,
  evidence: Evidence,
  { seed, minutes, rounds, pace, robots, print, over, onClose }: ChaosRun,
) {
  const random = createRandom(seed)
  const db = await connect(cluster.databaseUrl)
  const counts = { robots, operators: Math.max(2, robots - 2), owners: Math.max(2, Math.round(robots / 4)) }
  const fixtures = await seedFixtures(db, { ...counts, secretKey: cluster.secretKey })
  await recordEverything(db)
  await db.end()
  const redis = new Redis(cluster.redisUrl)
  redis.on('error', () => {}) // it is killed during the run
  onClose(() => redis.disconnect())
  const hubWire = await createHubWire(cluster.hubUrl)
  onClose(() => hubWire.close())
  const wires = { robots: createSocketWire(), operators: createSocketWire(), 'hub clients': hubWire }
  const loadActors = await assemble({ cluster, fixtures, evidence, random: random.fork('actors'), wires })
  onClose(() => loadActors.close())

  const struck = new Set<string>()
  const watch = watchProcesses(cluster.nodes, { evidence, struck })
  onClose(() => watch.finish())
  loadActors.begin()
  await delay(WARM_UP_MS)
  print(
    `${counts.robots} robots, ${counts.operators} operators and ${counts.owners} owners; ` +
      (rounds === undefined ? `faults for ${minutes} min` : `${rounds} kills`),
  )
  const draws = random.fork('plan')
  const plan = rounds === undefined ? planFaults(draws, pace) : planRecordingFaults(draws, { rounds, pace })
  const faults = await injectFault(plan, {
    cluster,
    redis,
    wires,
    evidence,
    struck,
    print,
    over,
    random: random.fork('faults'),
    untilMs: rounds === undefined ? Date.now() + minutes * 60_000 : Number.POSITIVE_INFINITY,
  })
  await Promise.all(cluster.nodes.map(recover))
  await delay(COOL_DOWN_MS)
  print('no more faults; waiting until the platform has settled')
  const { environment, sessions, settledMs } = await stabilize(cluster, {
    loadActors,
    evidence,
    owners: fixtures.owners,
    onClose,
  })
  watch.finish()
  return { faults, memory: watch.memory(), environment, sessions, settledMs }
}

/** Stops all actors, switches some robots off, and waits until the platform has settled. */
async function stabilize(
  cluster: Cluster,
  parts: {
    loadActors: LoadActors
    evidence: Evidence
    owners: Fixtures['owners']
    onClose: ChaosRun['onClose']
  },
) {
  const { loadActors, evidence, owners, onClose } = parts
  await loadActors.end()
  const off = new Set(loadActors.robots.slice(0, SWITCHED_OFF))
  await Promise.all([...off].map((robot) => robot.close()))
  const sessions = await loadActors.openSessions(
    loadActors.robots.slice(SWITCHED_OFF, SWITCHED_OFF + LEFT_OPEN),
  )
  const db = await connect(cluster.databaseUrl)
  onClose(() => db.end())
  const robots = loadActors.robots.map((robot) => ({ id: robot.fixture.id, connected: !off.has(robot) }))
  const recordings = createStoredRecordings({ db, baseUrl: cluster.baseUrl, owners })
  const environment: Environment = { db, evidence, robots, recordings, boards: loadActors.boards }
  const settledMs = await waitForQuiescence(environment, SETTLE_LIMIT_MS)
  await waitForRecordings(environment, RECORDINGS_LIMIT_MS)
  return { environment, sessions, settledMs }
}

async function connect(connectionString: string): Promise<Client> {
  const db = new Client({ connectionString, application_name: 'chaos' })
  db.on('error', () => {}) // the running query reports it
  await db.connect()
  return db
}
