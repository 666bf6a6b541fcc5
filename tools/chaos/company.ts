import type { Cluster } from '../cluster/cluster.ts'
import type { Cast } from './cast.ts'
import type { Evidence } from './evidence.ts'
import { HubView } from './play/hub-view.ts'
import { playOperator, startSession } from './play/operator.ts'
import { playOwner } from './play/owner.ts'
import { PlayedRobot } from './play/robot.ts'
import { createScene } from './play/scene.ts'
import type { Random } from './random.ts'
import { driverSocket, type HubWire, type SocketWire } from './wire.ts'

/** A session with the credentials of those who may chat in it. */
export interface OpenSession {
  readonly id: string
  readonly tokens: readonly string[]
}

/** The robot may be in a session yet whose end is on its way. */
const START_ATTEMPTS = 10

/** Everybody who plays: robots, operators and owners, each over the wires on which they can be cut. */
export async function assemble(parts: {
  cluster: Cluster
  cast: Cast
  evidence: Evidence
  random: Random
  wires: {
    robots: SocketWire
    operators: SocketWire
    'hub clients': HubWire
  }
}) {
  const { cluster, cast, evidence, random, wires } = parts
  const { baseUrl, gatewayUrl } = cluster
  const curtain = new AbortController()
  const robots = cast.robots.map(
    (robot) => new PlayedRobot({ cast: robot, gatewayUrl, wire: wires.robots, evidence }),
  )
  const Socket = driverSocket(wires.operators)
  const hubUrl = wires['hub clients'].url
  const viewOf = (person: Cast['owners'][number]) => new HubView({ person, hubUrl, evidence })
  const owners = cast.owners.map((person) => ({ person, view: viewOf(person) }))
  const operators = cast.operators.map((person) => ({ person, view: viewOf(person) }))
  const excuse = (sessionId: string) => {
    const start = evidence.starts.findLast((asked) => asked.sessionId === sessionId)
    robots.find(({ cast: { id } }) => id === start?.robotId)?.excuse()
  }
  const scene = (player: (typeof owners)[number]) =>
    createScene({
      ...{ ...player, baseUrl, evidence, excuse, over: curtain.signal },
      ...{ random: random.fork(player.person.name), Socket },
    })
  await Promise.all([
    ...robots.map((robot) => robot.start()),
    ...owners.map(async ({ view }) => {
      await view.start((sessionId) => view.watch(sessionId))
      await view.watchRobots()
    }),
    ...operators.map(({ view }) => view.start(() => {})),
  ])
  const playing: Promise<void>[] = []

  return {
    robots,
    views: [...owners, ...operators].map(({ view }) => view),
    boards: owners.map(({ person, view }) => ({ who: person.name, robots: view.board })),
    begin(): void {
      for (const owner of owners) playing.push(playOwner(scene(owner)))
      for (const operator of operators) playing.push(playOperator(scene(operator), robots))
    },
    /** Nobody begins anything new; settles when everybody has done what they were at. */
    async end(): Promise<void> {
      curtain.abort()
      await Promise.all(playing)
    },
    /** Operators start sessions on these robots and leave them open; nobody drives. Once the play is over. */
    async openSessions(on: readonly PlayedRobot[]): Promise<OpenSession[]> {
      const open: OpenSession[] = []
      for (const [index, robot] of on.entries()) {
        const operator = operators[index % operators.length] as (typeof operators)[number]
        let id: string | null = null
        for (let attempt = 1; attempt <= START_ATTEMPTS && id === null; attempt++)
          id = await startSession(scene(operator), robot)
        if (id === null)
          evidence.sights.add(`no session could be started on robot ${robot.cast.id} in the end`)
        else open.push({ id, tokens: [operator.person.apiKey, robot.cast.owner.apiKey] })
      }
      return open
    },
    async close(): Promise<void> {
      curtain.abort()
      await Promise.allSettled(playing)
      for (const { view } of [...owners, ...operators]) view.client.close()
      await Promise.all(robots.map((robot) => robot.close()))
    },
  }
}
export type Company = Awaited<ReturnType<typeof assemble>>
