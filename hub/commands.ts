import {
  type HubAck,
  type HubAnswers,
  type HubCommand,
  type HubCommandName,
  hubCommands,
  isValueNestedTooDeep,
  MAX_FRAME_DEPTH,
  MAX_WATCHED_SESSIONS,
  rooms,
} from '@wheelhouse/protocol'
import type { Socket } from 'socket.io'
import type { z } from 'zod'
import { TokenBucket } from '../src/core/concurrency/token-bucket.ts'
import { AppError, badRequest, forbidden, toAppError } from '../src/core/errors/errors.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import { requireThreadTime } from '../src/core/http/request-authorization.ts'
import { parseOptions } from '../src/core/http/validation-messages.ts'
import type { Log } from '../src/core/log.ts'
import { isPersonal, requireKeyFor, requireScope, type Scope } from '../src/core/permissions/authorization.ts'
import type { Guard } from '../src/core/process/guard.ts'
import type { ThreadTime } from '../src/core/process/thread-time.ts'
import type { Notifications } from '../src/modules/notifications/index.ts'
import type { RobotWatch } from '../src/modules/robots/index.ts'
import {
  createDirectStop,
  type Messages,
  type SessionLifecycle,
  type SessionQueries,
  sessionDetail,
} from '../src/modules/sessions/index.ts'
import { createArrivals } from './arrivals.ts'

/** Sessions that one socket may stop at a time beyond its rate limit. */
const MAX_RUNNING = 4

const tooManyCommands = () => new AppError(429, 'rate_limited', 'Too many commands. Send them more slowly.')

/**
 * Runs the stops of one socket that exceed its rate limit, one at a time for each session. A repetition gets the answer
 * of the running stop, so it is never refused and costs nothing.
 */
function createUrgentStops<T>() {
  const running = new Map<string, Promise<T>>()
  return async (sessionId: string, stop: () => Promise<T>): Promise<T> => {
    const current = running.get(sessionId)
    if (current) return await current
    if (running.size >= MAX_RUNNING) throw tooManyCommands()
    const started = stop().finally(() => running.delete(sessionId))
    running.set(sessionId, started)
    return await started
  }
}
type UrgentStops<T> = ReturnType<typeof createUrgentStops<T>>

/** Log entries in one answer. A client repeats the command until it has reached `head`. */
const EVENTS_PER_PAGE = 200
/** The commands of a client that returns. Those of many clients run together, so that they share queries. */
const CATCH_UP_COMMANDS: ReadonlySet<string> = new Set<HubCommandName>([
  'session:watch',
  'notifications:since',
  'robots:watch',
])
/** The limit of each socket: 30 commands a second, 60 at once. */
const COMMAND_LIMIT = { burst: 60, refillMs: 2_000 }

export interface CommandDeps {
  readonly queries: SessionQueries
  readonly lifecycle: SessionLifecycle
  readonly messages: Messages
  readonly notifications: Notifications
  readonly robotWatch: RobotWatch
  /** Returns the caller with the present roles; rejects if the credential is no longer valid. */
  readonly currentCaller: (caller: Caller) => Promise<Caller>
  readonly now: () => Date
  readonly bus: Bus
  readonly log: Log
  readonly guard: Guard
  readonly threadTime: Pick<ThreadTime, 'measure' | 'waitMs'>
  /** How long a stop waits for the database. Default: 0.5 s. */
  readonly stopWaitMs?: number | undefined
}

type Handlers = {
  [N in Exclude<HubCommandName, 'ping'>]: (
    caller: Caller,
    input: z.output<(typeof hubCommands)[N]>,
    socket: Socket,
  ) => Promise<HubAnswers[N]>
}

/** Creates the handler of each command. Every handler checks the permissions of the caller. */
function createHandlers(deps: CommandDeps): Handlers {
  const { queries, lifecycle, messages, notifications, robotWatch, now } = deps
  return {
    async 'session:watch'(caller, { session_id, after }, socket) {
      requireKeyFor(caller, 'sessions.watch')
      const { event_seq } = await queries.parties(caller, session_id)
      const room = rooms.session(session_id)
      const others = [...socket.rooms].filter(
        (joinedRoom) => joinedRoom !== room && joinedRoom.startsWith(rooms.session('')),
      )
      if (others.length >= MAX_WATCHED_SESSIONS) {
        throw new AppError(
          429,
          'subscription_limit_reached',
          `A connection watches at most ${MAX_WATCHED_SESSIONS} sessions. Unwatch one first.`,
        )
      }
      // Joined before the log is read: events in between arrive live, so none is missed.
      await socket.join(room)
      const events = await queries.events(session_id, after ?? 0, EVENTS_PER_PAGE, event_seq)
      const row = await queries.get(caller, session_id)
      return { session: sessionDetail(row, caller, now()), events, head: row.event_seq }
    },
    async 'session:unwatch'(_caller, { session_id }, socket) {
      await socket.leave(rooms.session(session_id))
      return {}
    },
    async 'chat:send'(caller, { session_id, body, client_message_id }) {
      return { message: (await messages.send(caller, session_id, body, client_message_id)).message }
    },
    async 'chat:typing'(caller, { session_id }, socket) {
      requireKeyFor(caller, 'sessions.manage')
      await queries.parties(caller, session_id)
      socket.to(rooms.session(session_id)).volatile.emit('chat:typing', {
        session_id,
        user_id: caller.userId,
        display_name: caller.displayName,
      })
      return {}
    },
    async 'session:action'(caller, { session_id, action, reason }) {
      const row = await lifecycle.performAction(caller, session_id, action, reason)
      return { session: sessionDetail(row, caller, now()) }
    },
    async 'notifications:since'(caller, { after }) {
      requireScope(caller, 'read')
      if (!isPersonal(caller))
        throw forbidden(
          'personal_key_required',
          'Notifications belong to a person, and the API key to a team.',
        )
      return await notifications.since(caller.userId, Number(after ?? 0))
    },
    async 'robots:watch'(caller, _input, socket) {
      requireKeyFor(caller, 'robots.read')
      const scope = await robotWatch.scope(caller)
      await socket.join([
        ...ownRobotRooms(scope.own),
        ...(scope.isOperator ? [rooms.openRobots] : []),
        ...scope.robotTypes.map(rooms.robotType),
      ])
      return { robots: await robotWatch.robots(scope) }
    },
  }
}

/** Returns the rooms of the robots that a caller sees as their owner: all of the organization, or those of some groups. */
function ownRobotRooms(own: Scope | undefined): string[] {
  if (own === undefined) return []
  return own.groupIds?.map(rooms.robotGroup) ?? [rooms.ownRobots(own.organizationId)]
}

export interface Commands {
  /** Accepts the commands of a socket. Each is answered through its acknowledgement. */
  register(socket: Socket, caller: Caller): void
  /** Settles when the accepted commands have ended. A stop may be answered before it ends. */
  idle(): Promise<void>
}

/** Creates the execution of commands. */
export function createCommands(deps: CommandDeps): Commands {
  const handlers = createHandlers(deps)
  const directStop = createDirectStop(deps.bus, deps.stopWaitMs)
  const arrived = createArrivals()
  const running = new Set<Promise<unknown>>()

  function register(socket: Socket, caller: Caller): void {
    const commandBucket = new TokenBucket(COMMAND_LIMIT, performance.now())
    const actionBucket = new TokenBucket(COMMAND_LIMIT, performance.now()) // separate, so that a busy client can still stop a robot
    const urgentStops = createUrgentStops<HubAck<HubCommandName>>()
    for (const name of Object.keys(hubCommands) as HubCommandName[]) {
      const command = async (...args: unknown[]) => {
        const reply = args.at(-1)
        const answer = typeof reply === 'function' ? (reply as (ack: HubAck<typeof name>) => void) : () => {}
        const limits = { tokenBucket: name === 'session:action' ? actionBucket : commandBucket, urgentStops }
        const raw = args[0] === answer ? undefined : args[0] // without a payload the acknowledgement is the first argument
        const handled = track(handleCommand(name, raw, socket, caller, limits))
        answer(await handled.catch((cause) => refusal(cause, deps.log)))
      }
      deps.guard.on(socket, name, `command:${name}`, command, () => socket.conn.close())
    }
  }

  async function handleCommand(
    name: HubCommandName,
    raw: unknown,
    socket: Socket,
    caller: Caller,
    limits: SocketLimits,
  ): Promise<HubAck<HubCommandName>> {
    const isWithinLimit = limits.tokenBucket.take(performance.now()) === 0
    if (!isWithinLimit && name !== 'session:action') throw tooManyCommands()
    if (isValueNestedTooDeep(raw))
      throw badRequest(`The payload is nested deeper than ${MAX_FRAME_DEPTH} levels`)
    const input = deps.threadTime.measure(`command:${name}`, caller.userId, () =>
      hubCommands[name].parse(raw ?? {}, parseOptions),
    )
    if (!isStop(input)) requireThreadTime(deps.threadTime, caller)
    if (name === 'ping') return { ok: true } // without the database, because it asks about the connection
    const execute = () => executeCommand(name, input, socket, caller)
    if (isWithinLimit) return await execute()
    if (!isStop(input)) throw tooManyCommands()
    return await limits.urgentStops(input.session_id, async () => {
      if (!(await mayStop(socket, caller, input.session_id))) throw tooManyCommands()
      return await execute()
    })
  }

  /** Returns whether the rate limit exempts a stop: that of a participant. A socket that watches was checked before. */
  async function mayStop(socket: Socket, caller: Caller, sessionId: string): Promise<boolean> {
    if (socket.rooms.has(rooms.session(sessionId))) return true
    return await deps.queries.isParticipant(await deps.currentCaller(caller), sessionId)
  }

  async function executeCommand(
    name: HubCommandName,
    input: object,
    socket: Socket,
    caller: Caller,
  ): Promise<HubAck<HubCommandName>> {
    const handler = handlers[name as keyof Handlers] as (
      caller: Caller,
      input: unknown,
      socket: Socket,
    ) => Promise<HubAnswers[HubCommandName]>
    const run = async () => {
      if (CATCH_UP_COMMANDS.has(name)) await arrived()
      return await handler(await deps.currentCaller(caller), input, socket)
    }
    const work = track(run()) // may outlast its answer
    const answer = await (isStop(input)
      ? directStop({ caller, sessionId: input.session_id, reason: input.reason }, work)
      : work)
    return { ok: true, ...answer } as HubAck<HubCommandName>
  }

  function track<T>(work: Promise<T>): Promise<T> {
    const forget = () => running.delete(work)
    running.add(work)
    work.then(forget, forget)
    return work
  }

  return {
    register,
    async idle() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}

interface SocketLimits {
  readonly tokenBucket: TokenBucket
  readonly urgentStops: UrgentStops<HubAck<HubCommandName>>
}

type StopCommand = HubCommand<'session:action'>

const isStop = (input: object): input is StopCommand => 'action' in input && input.action === 'emergency_stop'

function refusal(cause: unknown, log: Log): { ok: false; error: string; status: number } {
  const error = toAppError(cause)
  if (error.status >= 500) log.error({ err: cause }, 'hub command failed')
  return { ok: false, error: error.message, status: error.status }
}
