import type { Cluster } from '../cluster/cluster.ts'
import { driverSocket, type HubWire, type SocketWire } from './cuttable-connections.ts'
import type { Evidence } from './evidence.ts'
import type { Fixtures } from './fixtures.ts'
import type { Random } from './random.ts'
import { createActorContext } from './workload/context.ts'
import { HubView } from './workload/hub-view.ts'
import { runOperator, startSession } from './workload/operator.ts'
import { runOwner } from './workload/owner.ts'
import { LoadRobot } from './workload/robot.ts'

/** A session with the credentials of the users who may chat in it. */
export interface OpenSession {
  readonly id: string
  readonly tokens: readonly string[]
}

/** The robot may still be in a session that is about to end. */
const START_ATTEMPTS = 10

/** Creates all actors of a run: robots, operators and owners, each over wires that can be cut. */
export async function assemble(parts: {
  cluster: Cluster
  fixtures: Fixtures
  evidence: Evidence
  random: Random
  wires: {
    robots: SocketWire
    operators: SocketWire
    'hub clients': HubWire
  }
}) {
  const { cluster, fixtures, evidence, random, wires } = parts
  const { baseUrl, gatewayUrl } = cluster
  const finished = new AbortController()
  const robots = fixtures.robots.map(
    (robot) => new LoadRobot({ fixtures: robot, gatewayUrl, wire: wires.robots, evidence }),
  )
  const Socket = driverSocket(wires.operators)
  const hubUrl = wires['hub clients'].url
  const viewOf = (user: Fixtures['owners'][number]) => new HubView({ user, hubUrl, evidence })
  const owners = fixtures.owners.map((user) => ({ user, view: viewOf(user) }))
  const operators = fixtures.operators.map((user) => ({ user, view: viewOf(user) }))
  const expectInterruption = (sessionId: string) => {
    const start = evidence.starts.findLast((item) => item.sessionId === sessionId)
    robots.find(({ fixture: { id } }) => id === start?.robotId)?.expectInterruption()
  }
  const context = (sessionOwner: (typeof owners)[number]) =>
    createActorContext({
      ...sessionOwner,
      baseUrl,
      evidence,
      expectInterruption,
      over: finished.signal,
      random: random.fork(sessionOwner.user.name),
      Socket,
    })
  await Promise.all([
    ...robots.map((robot) => robot.start()),
    ...owners.map(async ({ view }) => {
      await view.start((sessionId) => view.watch(sessionId))
      await view.watchRobots()
    }),
    ...operators.map(({ view }) => view.start(() => {})),
  ])
  const workloads: Promise<void>[] = []

  return {
    robots,
    views: [...owners, ...operators].map(({ view }) => view),
    boards: owners.map(({ user, view }) => ({ who: user.name, robots: view.board })),
    begin(): void {
      for (const owner of owners) workloads.push(runOwner(context(owner)))
      for (const operator of operators) workloads.push(runOperator(context(operator), robots))
    },
    /** Stops all actors after their current action; settles when all have stopped. */
    async end(): Promise<void> {
      finished.abort()
      await Promise.all(workloads)
    },
    /** Starts sessions on these robots and leaves them open, without control. Call it after `stop`. */
    async openSessions(on: readonly LoadRobot[]): Promise<OpenSession[]> {
      const open: OpenSession[] = []
      for (const [index, robot] of on.entries()) {
        const operator = operators[index % operators.length] as (typeof operators)[number]
        let id: string | null = null
        for (let attempt = 1; attempt <= START_ATTEMPTS && id === null; attempt++)
          id = await startSession(context(operator), robot)
        if (id === null)
          evidence.violations.add(`no session could be started on robot ${robot.fixture.id} after the faults`)
        else open.push({ id, tokens: [operator.user.apiKey, robot.fixture.owner.apiKey] })
      }
      return open
    },
    async close(): Promise<void> {
      finished.abort()
      await Promise.allSettled(workloads)
      for (const { view } of [...owners, ...operators]) view.client.close()
      await Promise.all(robots.map((robot) => robot.close()))
    },
  }
}
export type LoadActors = Awaited<ReturnType<typeof assemble>>
