import { randomUUID } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, answerOf, type LinkEnd, type Schemas, SimulatedRobot } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import { z } from 'zod'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { configDirectory, OWNER_ONLY_FILE, writeOwnerFile } from './lib/credentials.ts'
import { unlessMissing } from './lib/errors.ts'
import { Failure } from './lib/failure.ts'
import { integer } from './lib/options.ts'
import { canDraw, openKeys, openLiveScreen, type ScreenSize } from './lib/screen.ts'
import { type Piece, type Style, styled } from './lib/text.ts'
import { clockOf, statusPiece } from './lib/views.ts'

export const commands = { simulate: declareSimulate }

/** Declares `wheelhouse simulate`: runs simulated robots. */
function declareSimulate(command: Command, action: CreateAction): void {
  command
    .argument(
      '[count]',
      `number of robots, up to ${MAX_ROBOTS} (default: 1, or all of --token-file)`,
      integer(1, MAX_ROBOTS),
    )
    .option('--type <type>', 'type of new robots', 'diffdrive-demo')
    .option('--name <name>', 'name of new robots, before their number', 'Simulated')
    .option('--token-file <file>', 'use the robots of this file, as robots register --json prints them')
    .option('--lines', 'print line by line, also on a terminal')
    .action(action(simulate))
}

interface SimulateOptions {
  readonly type: string
  readonly name: string
  readonly tokenFile?: string
  readonly lines?: true
}

/** Runs simulated robots until Ctrl-C, or until the platform has refused all of them. */
async function simulate(cli: Context, count: number | undefined, options: SimulateOptions): Promise<void> {
  const { tokenFile, type, name } = options
  const robots = tokenFile
    ? await loadRobots(tokenFile, count)
    : await acquireRobots(cli, { count: count ?? 1, type, name })
  if (robots.length > MAX_ROBOTS) {
    throw new Failure(
      'usage',
      `${robots.length} robots are too many for one process. Set a count up to ${MAX_ROBOTS}.`,
    )
  }
  const fleet = canDraw(cli) && !options.lines ? await onScreen(cli, robots) : await inLines(cli, robots)
  cli.signal.throwIfAborted()
  const reasons = [...new Set(fleet.members.map(({ reason }) => reason))].join('; ')
  throw new Failure('refused', `The platform has refused all robots: ${reasons}`)
}

async function inLines(cli: Context, robots: readonly RobotCredentials[]): Promise<Fleet> {
  const { out } = cli
  const reportStatus = ({ id, name, link, reason, session }: FleetMemberStatus) => {
    const at = new Date().toISOString()
    if (out.json) return out.entry({ at, type: 'robot', robot_id: id, name, link, reason, session })
    const driven = session ? `  session ${session.id} ${session.status}` : ''
    out.line(styled('dim', `${clockOf(at)}  `), `${name} ${link}${reason && `: ${reason}`}${driven}`)
  }
  const fleet = new Fleet(robots, reportStatus)
  await runUntilAborted(cli, fleet)
  return fleet
}

async function onScreen(cli: Context, robots: readonly RobotCredentials[]): Promise<Fleet> {
  const fleet = new Fleet(robots, () => screen.changed())
  const screen = openLiveScreen(cli, (size) => fleetScreen(cli.server, fleet.members, size))
  const closeKeys = openKeys(cli.terminal, { typed: () => {} })
  try {
    await runUntilAborted(cli, fleet)
  } finally {
    closeKeys()
    screen.close()
  }
  return fleet
}

async function runUntilAborted(cli: Context, fleet: Fleet): Promise<void> {
  const leave = () => void fleet.close()
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    cli.signal.throwIfAborted()
    await fleet.run()
  } finally {
    cli.signal.removeEventListener('abort', leave)
    await fleet.close()
  }
}

/** Each robot runs physics at 50 steps per second. Run several processes for more robots. */
const MAX_ROBOTS = 100

/** State of one robot. */
interface FleetMember {
  readonly id: string
  readonly name: string
  readonly robot: SimulatedRobot
  readonly link: 'waiting' | 'connecting' | 'online' | 'offline' | 'closed'
  /** Why the link went offline or closed. */
  readonly reason: string
  /** The open session of the robot. */
  readonly session: { readonly id: string; readonly status: string } | null
}

type FleetMemberStatus = Pick<FleetMember, 'id' | 'name' | 'link' | 'reason' | 'session'>

/** Delay between two connects, which avoids a burst of connections. */
const STAGGER_MS = 50
/** Refusals of an invalid token, at the upgrade and later. */
const REFUSED_STATUS = 401
const REFUSED_CODE = 4401
/** Interval at which the fleet reads the sessions: SimulatedRobot has no callback for them. */
const POLL_INTERVAL_MS = 200

/** Runs simulated robots, which connect one after the other, until `close`. */
class Fleet {
  readonly #members: FleetMember[]
  readonly #onChange: (member: FleetMemberStatus) => void
  readonly #ended = Promise.withResolvers<void>()
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(robots: readonly RobotCredentials[], onChange: (member: FleetMemberStatus) => void) {
    this.#onChange = onChange
    this.#members = robots.map((credentials, index) => this.#member(credentials, index))
    this.#timer = setInterval(() => this.#pollSessions(), POLL_INTERVAL_MS)
  }

  get members(): readonly FleetMember[] {
    return this.#members
  }

  /** Connects all robots. Resolves when all links have closed, at the latest after `close`. */
  async run(): Promise<void> {
    for (const { robot } of this.#members) {
      if (this.#closing.signal.aborted) break
      robot.start().catch(() => {}) // reported through onClosed
      await delay(STAGGER_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
    await this.#ended.promise
  }

  /** Closes all robots. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#timer)
    await Promise.all(this.#members.map(({ robot }) => robot.close()))
    this.#ended.resolve()
  }

  #member({ id, name, controlUrl, token, forget }: RobotCredentials, index: number): FleetMember {
    const robot = new SimulatedRobot({
      url: controlUrl,
      token,
      onConnection: (link, code) =>
        this.#change(index, { link, reason: code === undefined ? '' : `close code ${code}` }),
      onClosed: (end) => {
        if (end.httpStatus === REFUSED_STATUS || end.closeCode === REFUSED_CODE) forget?.().catch(() => {})
        this.#onClosed(index, end)
      },
    })
    return { id, name, robot, link: 'waiting', reason: '', session: null }
  }

  #onClosed(index: number, { reason }: LinkEnd): void {
    this.#change(index, { link: 'closed', reason, session: null })
    if (this.#members.every(({ link }) => link === 'closed')) this.#ended.resolve()
  }

  #pollSessions(): void {
    this.#members.forEach(({ robot, session: before }, index) => {
      const now = robot.link.session
      const session = now ? { id: now.session_id, status: now.status } : null
      if (session?.id !== before?.id || session?.status !== before?.status) this.#change(index, { session })
    })
  }

  #change(index: number, part: Partial<FleetMember>): void {
    const before = this.#members[index]
    if (!before || before.link === 'closed') return
    const member = { ...before, ...part }
    this.#members[index] = member
    const { id, name, link, reason, session } = member
    this.#onChange({ id, name, link, reason, session })
  }
}

const STYLES: Readonly<Record<FleetMember['link'], Style>> = {
  waiting: 'dim',
  connecting: 'yellow',
  online: 'green',
  offline: 'yellow',
  closed: 'red',
}
const NAME_COLUMNS = 24
const LINK_COLUMNS = 11

/** Returns the fleet screen, with a line for each robot: name, link, session and position. */
function fleetScreen(
  server: string,
  members: readonly FleetMember[],
  { rows }: Pick<ScreenSize, 'rows'>,
): Piece[][] {
  const online = members.filter(({ link }) => link === 'online').length
  const driven = members.filter(({ session }) => session).length
  const availableRows = Math.max(0, rows - 4)
  const hidden = members.length - availableRows
  return [
    [
      styled('bold', `${members.length} simulated robots`),
      ` at ${server}: ${online} online, ${driven} in a session`,
    ],
    [],
    ...members.slice(0, availableRows).map(lineOf),
    [hidden > 0 ? styled('dim', `and ${hidden} more`) : ''],
    [styled('dim', 'Ctrl-C ends them')],
  ]
}

function lineOf({ name, link, reason, session, robot }: FleetMember): Piece[] {
  const { xM, yM, battery } = robot.state
  const position = `x ${xM.toFixed(2)} m, y ${yM.toFixed(2)} m, battery ${(battery * 100).toFixed(0)} %`
  const shown: Piece[] = [name.padEnd(NAME_COLUMNS), styled(STYLES[link], link.padEnd(LINK_COLUMNS))]
  if (session) return [...shown, statusPiece(session.status), ` ${session.id}  ${position}`]
  return [...shown, reason && link !== 'online' ? reason : styled('dim', position)]
}

/** Credentials of a simulated robot. */
interface RobotCredentials {
  readonly id: string
  readonly name: string
  readonly controlUrl: string
  readonly token: string
  /** Removes an invalid token from the store, so that the next call registers another robot. */
  readonly forget?: () => Promise<void>
}

/** Response to the registration of a robot. */
const RobotRegistration = z.looseObject({
  control_url: z.url({ protocol: /^wss?$/ }),
  robot_token: z.string().min(1),
  id: z.string().optional(),
  name: z.string().optional(),
})

/**
 * Returns robots of the caller: unused robots of earlier calls, and new ones up to the wanted number.
 * @throws ApiError when the platform refuses
 */
async function acquireRobots(
  cli: Context,
  wanted: { count: number; type: string; name: string },
): Promise<RobotCredentials[]> {
  const { id: ownerId } = await answerOf(cli.rest.GET('/api/auth/profile'))
  const robotStore = createRobotStore(cli)
  const storedRobots = await robotStore.listByOwner(ownerId)
  const robots: RobotCredentials[] = []
  for (const { id, robot_token: token } of storedRobots) {
    if (robots.length === wanted.count) break
    const robot = await findRobot(cli, id)
    if (!robot) await robotStore.forget(id)
    // Another process runs it, or has run it within the heartbeat timeout.
    else if (robot.status !== 'OFFLINE') cli.out.note(`${robot.name} is already online in another process`)
    else
      robots.push({
        id,
        name: robot.name,
        controlUrl: robot.control_url,
        token,
        forget: () => robotStore.forget(id),
      })
  }
  let number = storedRobots.length
  while (robots.length < wanted.count) {
    number += 1
    const name = `${wanted.name} ${number}`
    robots.push(await registerRobot(cli, robotStore, { ownerId, name, type: wanted.type }))
  }
  return robots
}

/** Reads the robots of a file: one JSON document, a JSON array, or JSON Lines. @throws Failure without a robot */
async function loadRobots(path: string, count: number | undefined): Promise<RobotCredentials[]> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new Failure('usage', `${path} cannot be read (${cause.code})`, { cause })
  })
  let robots: z.infer<typeof RobotRegistration>[]
  try {
    robots = RobotRegistration.array().min(1).parse(documentsIn(text))
  } catch (cause) {
    const next = 'Use the output of robots register --json, a JSON array of it, or JSON Lines.'
    throw new Failure('usage', `${path} is not a list of robots. ${next}`, { cause })
  }
  if (count !== undefined && count > robots.length) {
    throw new Failure('usage', `${path} has only ${robots.length} robots`)
  }
  return robots.slice(0, count).map(({ control_url: controlUrl, robot_token: token, id, name }, index) => ({
    controlUrl,
    token,
    id: id ?? controlUrl.split('/').at(-2) ?? '',
    name: name ?? `robot ${index + 1}`,
  }))
}

function documentsIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    return lines.map((line): unknown => JSON.parse(line))
  }
}

async function findRobot(cli: Context, id: string): Promise<Schemas['RobotDetail'] | undefined> {
  const request = () => cli.rest.GET('/api/client/robots/{id}', { params: { path: { id } } })
  return await unlessMissing(withRateLimitRetry(cli, () => answerOf(request())))
}

async function registerRobot(
  cli: Context,
  robotStore: RobotStore,
  { ownerId, name, type }: { ownerId: string; name: string; type: string },
): Promise<RobotCredentials> {
  const body = { name, robot_type: type, hardware_id: `simulated-${randomUUID()}`, tags: ['simulated'] }
  const robot = await withRateLimitRetry(cli, () => answerOf(cli.rest.POST('/api/client/robots', { body })))
  const { id, robot_token, control_url: controlUrl } = robot
  await robotStore.save({ server: cli.server, owner_id: ownerId, id, name, robot_token })
  return { id, name, controlUrl, token: robot_token, forget: () => robotStore.forget(id) }
}

/** Repeats a request after the delay of a 429 response, because many robots need many requests. */
async function withRateLimitRetry<T>({ out, signal }: Context, send: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await send()
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 429 || cause.retryAfterS === undefined) throw cause
      out.note(`Too many requests. Waiting ${cause.retryAfterS} s …`)
      await delay(cause.retryAfterS * 1_000, undefined, { signal })
    }
  }
}

const VERSION = 1

/** A robot that this command has registered, with the token that the platform returns only once. */
const StoredRobot = z.object({
  server: z.url(),
  owner_id: z.string(),
  id: z.string(),
  name: z.string(),
  robot_token: z.string(),
})
type StoredRobot = z.infer<typeof StoredRobot>

const StoredRobotsFile = z.object({ version: z.literal(VERSION), robots: z.array(StoredRobot) })

type RobotStore = ReturnType<typeof createRobotStore>

/** Stores the registered robots in a file next to the credentials. Only its owner can read it. */
function createRobotStore({ env, store, server, signal }: Context) {
  const folder = configDirectory(env)
  const path = join(folder, 'simulated-robots.json')

  async function read(): Promise<readonly StoredRobot[]> {
    const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return undefined
      throw new Failure('refused', `${path} cannot be read (${cause.code})`, { cause })
    })
    if (text === undefined) return []
    await chmod(path, OWNER_ONLY_FILE)
    try {
      return StoredRobotsFile.parse(JSON.parse(text)).robots
    } catch (cause) {
      const next = 'Move the file away. The next call then registers new robots.'
      throw new Failure('refused', `${path} is not a robot file of wheelhouse. ${next}`, { cause })
    }
  }

  /** Changes the file under the lock of the settings folder, so that concurrent processes do not overwrite changes. */
  async function change(edit: (robots: readonly StoredRobot[]) => readonly StoredRobot[]): Promise<void> {
    await store.update(async (credentials) => {
      await writeOwnerFile(path, { version: VERSION, robots: edit(await read()) })
      return [credentials, undefined] as const
    }, signal)
  }

  return {
    /** Returns the robots of an owner at this platform, in order of registration. */
    listByOwner: async (ownerId: string) =>
      (await read()).filter((robot) => robot.server === server && robot.owner_id === ownerId),
    save: (robot: StoredRobot) => change((robots) => [...robots, robot]),
    forget: (id: string) =>
      change((robots) => robots.filter((robot) => robot.server !== server || robot.id !== id)),
  }
}
