import {
  type Autonomy,
  type ControlSchema,
  decodeBinaryHeader,
  decodeOrderedFrame,
  encodeBinaryFrame,
  type GoalState,
  MIN_SPEED_SCALE,
  type SpeedLimits,
} from '@wheelhouse/protocol'
import { pino } from 'pino'
import { vi } from 'vitest'
import { createFrameTime } from '../../../gateway/base/frame-time.ts'
import { type GatewayDeps, startGateway } from '../../../gateway/index.ts'
import { ParticipantConnection } from '../../../gateway/participants/participant-connection.ts'
import { RobotConnection } from '../../../gateway/robots/robot-connection.ts'
import type { GatewayServerDeps } from '../../../gateway/server/server.ts'
import { type FakeChannelPeer, FakeChannels, RobotSequence } from './fake-channels.ts'
import { createSessionBook } from './fake-session-store.ts'
import { FakeSocket, type Sent } from './fake-socket.ts'
import { plainGuard } from './plain-guard.ts'

export const DEADMAN_MS = 250
const LATENCY_LIMIT_MS = 400
const LATENCY_BUDGET_MS = 100
export const GRACE_MS = 2_000
const ROBOT_ID = '00000000-0000-4000-9000-000000000000'
export const OPERATOR_ID = '00000000-0000-4000-a000-000000000000'
const SLICE_MS = 10
const BEAT_MS = 200
/** The timing of repeated stops: a second, and one turn of the timer wheel that repeats them. */
const REPEATED_WITHIN_MS = 1_300
const ROUNDING_MS = 2
const CLOCK_DRIFT = 0.0002

/** The payload of a test's control frame, by which it is recognized. */
interface Made {
  readonly userIndex: number
  readonly seq: number
  readonly madeMs: number
  readonly ttlMs: number
  readonly raw: Uint8Array | undefined
}

interface Answer {
  readonly type: 'error' | 'pong'
  readonly message?: string
}

/** A participant, at the client's end of a socket. */
export interface TestParticipant {
  readonly number: number
  readonly userId: string
  readonly sessionId: string
  readonly isOperator: boolean
  readonly socket: FakeSocket<ParticipantConnection>
  /** The newest state that it has read. */
  state: string | null
  /** The reasons for which its frames were dropped, as it received them. */
  readonly dropped: string[]
  /** The allowed speeds, as it received them. */
  readonly limits: SpeedLimits[]
  /** The errors and pongs that it received. */
  readonly answers: Answer[]
  /** What the robot reports of itself, as it received it. */
  readonly autonomy: Autonomy[]
  seq: number
  /** Its clock is behind the gateway's by this much, and runs faster by this factor. */
  readonly apartMs: number
  readonly ppm: number
  quickestMs: number
  firstMs: number
  arrivedMs: number
  readonly channel: FakeChannelPeer
  /** The control frames that it sent, of which a late copy may arrive. */
  readonly copies: (object | Uint8Array)[]
  stops: number
}

/** One connection of the robot, with the frames that it received. */
export interface Machine {
  readonly socket: FakeSocket<RobotConnection>
  welcomed: boolean
  latched: string | null
  /** It received its latched stop, or could not. */
  sentMs: number
  answered: boolean
  /** It may move: control arrived, and no stop since. */
  moving: boolean
  /** The goal to which it drives, and of which user; null without one. */
  goal: { readonly id: string; readonly userId: string } | null
  /** The ids of the goals that arrived, and of those that were canceled. */
  readonly goals: string[]
  readonly canceled: string[]
  controls: number
  /** The newest epoch of the control lease that it was told. */
  epoch: number
  sessionId: string | undefined
  /** The reasons of the stops that arrived. */
  readonly stops: string[]
  /** The speed scale that it received last in this session; null before the first one. */
  speedScale: number | null
  /** The JSON commands and the allowed speeds in the order in which they arrived. */
  readonly received: (Command | SpeedLimits)[]
  /** The lifetime of each command that arrived, JSON or binary, in milliseconds. */
  readonly ttlsMs: number[]
  readonly lastSeqs: Map<number, number>
  readonly sequence: RobotSequence
  readonly channel: FakeChannelPeer
}

/** A command that a participant sent at full speed, as the robot receives it. */
interface Command {
  readonly data: { readonly key: string; readonly linear: number }
  readonly speed_scale?: number
}

interface StopRequestCall {
  readonly sessionId: string
  readonly reason: string
  /** Its robot has connected to another gateway, which has the state of the database. */
  elsewhere: boolean
  /** The stop was cleared, or the session ended, after the request. */
  resolved: boolean
}

/** The transport of a frame. */
export type Via = 'websocket' | 'channel' | 'both'

const settled = () => new Promise((resolve) => setImmediate(resolve))
/** Returns whether a robot received the bytes that an operator sent, with the rest of their lifetime. */
function isForwarded(sent: Uint8Array, received: Uint8Array): boolean {
  const [from, to] = [decodeBinaryHeader(sent), decodeBinaryHeader(received)]
  if (!from || !to || to.ttlMs > from.ttlMs || (to.ttlMs === 0) !== (from.ttlMs === 0)) return false
  return Buffer.from(encodeBinaryFrame({ ...to, ttlMs: from.ttlMs }, received.subarray(16))).equals(sent)
}
const text = (frame: Sent) => (typeof frame === 'string' ? JSON.parse(frame) : undefined)

/**
 * Creates a whole gateway without sockets and database, under a clock that the test advances. Checks the rules of control:
 * `violations` lists each violation.
 */
export async function createControlFixture({
  heartbeatTimeoutMs = 1_000,
  latencyBudgetMs = LATENCY_BUDGET_MS as number | null,
  videoLimitMs = null as number | null,
  /** Of a robot in strict mode. */
  controlSchema = null as ControlSchema | null,
  /** Whether robots send heartbeats. */
  robotBeats = true,
  /** The clock that measures how long frames take. */
  frameClockMs = () => performance.now(),
} = {}) {
  const violations: string[] = []
  const participants: TestParticipant[] = []
  const machines: Machine[] = []
  const stopRequests: StopRequestCall[] = []
  const frames = new Map<string, Made>()
  /** The control frames of each session that the gateway sent, also those that the data channel lost. */
  const passed = new Map<string, Set<string>>()
  let beatMs = 0
  let quick = true
  const nowMs = () => performance.now()
  const wrong = (what: string) => violations.push(`${Math.round(nowMs())} ms: ${what}`)
  const book = createSessionBook({
    robotId: ROBOT_ID,
    operatorId: OPERATOR_ID,
    latencyLimitMs: LATENCY_LIMIT_MS,
    latencyBudgetMs,
    videoLimitMs,
    controlSchema,
    connection: () => machines.findLast(({ welcomed, socket }) => welcomed && socket.open),
  })
  const errors: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) })

  /** Lets the database execute all requests, and delivers all answers and hints. */
  async function flushAsync(): Promise<void> {
    await settled()
    for (let round = 0; quick && book.waits && round < 20; round++) {
      book.work()
      book.answer()
      await settled()
      book.deliverHints()
      await settled()
    }
  }

  const settings = {
    heartbeatIntervalMs: 200,
    heartbeatTimeoutMs,
    deadmanMs: DEADMAN_MS,
    operatorGraceMs: GRACE_MS,
    robotConnectsPerMinute: 0,
    apiUrl: 'http://here',
    dataChannel: { port: 1, publicAddress: undefined },
  }
  const channels = new FakeChannels(nowMs)
  const guard = plainGuard(log)
  const parts = {
    ...book,
    episodeStore: { save: async () => [] },
    logStore: { append: async () => {} },
    tokens: { read: () => undefined },
    tickets: { read: () => undefined },
    log,
    settings,
    guard,
    frameTime: createFrameTime({ limited: true, guard, nowMs: frameClockMs }),
    nodeId: 'here',
    allowedOrigins: [],
    metricsPage: async () => ({ status: 200, headers: {}, body: '' }),
    urlFor: () => 'ws://here',
  } as unknown as GatewayDeps // all dependencies of a gateway without sockets
  /** Waits for a promise of the gateway that needs the database. */
  async function through<T>(work: Promise<T>): Promise<T> {
    let done = false
    const ended = work.finally(() => {
      done = true
    })
    ended.catch(() => {})
    while (!done) await flushAsync()
    return await ended
  }
  const listening = Promise.withResolvers<GatewayServerDeps>()
  const listen = async (server: GatewayServerDeps) => {
    listening.resolve(server)
    return { port: 1, stopListening() {}, close() {} }
  }
  const gateway = await through(startGateway(parts, '', 0, listen, () => channels.host))
  const { robots, participants: users } = await listening.promise
  const clockMs = () => Math.floor(nowMs()) + 1

  const machine = () => machines.findLast(({ welcomed, socket }) => welcomed && socket.open)
  const pendingStops = (sessionId: string) =>
    stopRequests.filter((stopRequest) => stopRequest.sessionId === sessionId && !stopRequest.resolved)

  const pendingStopsHere = (sessionId: string) =>
    pendingStops(sessionId).filter(({ elsewhere }) => !elsewhere)

  const isRecorded = (sessionId: string) =>
    book.pages.some(({ id, stopReason }) => id === sessionId && stopReason !== null)

  function countPassed(sessionId: string, key: string): void {
    const keys = passed.get(sessionId) ?? new Set()
    passed.set(sessionId, keys.add(key))
  }

  /** Counts a frame that the data channel lost. The gateway does not know, so for its stops the robot may be moving. */
  function recordLost(to: Machine, frame: Sent): void {
    const ordered = typeof frame === 'string' ? undefined : decodeOrderedFrame(new Uint8Array(frame))
    const key = ordered ? Buffer.from(ordered.frame.subarray(16)).toString() : text(frame)?.data?.key
    const made = frames.get(key)
    if (!made) return
    countPassed((participants[made.userIndex] as TestParticipant).sessionId, key)
    to.moving = true
  }

  function beginEpoch(to: Machine, epoch: number): void {
    if (epoch > to.epoch && to.moving) wrong('control changes hands while the robot may be moving')
    to.epoch = Math.max(to.epoch, epoch)
  }

  function checkControl(to: Machine, key: string, sessionId: string | undefined, epoch = to.epoch): void {
    checkCommand(to, key, sessionId, epoch)
    const made = frames.get(key)
    if (!made) return
    if (nowMs() - made.madeMs - quickestOf(made) > LATENCY_LIMIT_MS + slackOf(made))
      wrong(`frame ${key} is over the latency limit`)
    countPassed((participants[made.userIndex] as TestParticipant).sessionId, key)
    Object.assign(to, { goal: null, controls: to.controls + 1 })
  }

  const quickestOf = ({ userIndex }: Made) => (participants[userIndex] as TestParticipant).quickestMs
  /** Returns by how much clocks may have drifted, and times were rounded. */
  function slackOf({ userIndex }: Made): number {
    const { firstMs, ppm } = participants[userIndex] as TestParticipant
    return (nowMs() - firstMs + 1_000) * (CLOCK_DRIFT + Math.abs(ppm) / 1e6) + ROUNDING_MS
  }

  /** Checks a command or a goal. */
  function checkCommand(to: Machine, key: string, sessionId: string | undefined, epoch: number): void {
    const made = frames.get(key)
    if (!made) return void wrong(`no participant has sent the frame ${key}`)
    const participant = participants[made.userIndex] as TestParticipant
    const of = `frame ${key}`
    const id = participant.sessionId
    if (sessionId !== undefined && sessionId !== id) wrong(`${of} is not of session ${sessionId}`)
    if (!participant.isOperator) wrong(`${of} is of an observer`)
    if (epoch < to.epoch) wrong(`${of} is of epoch ${epoch}, but the robot is in ${to.epoch}`)
    beginEpoch(to, epoch) // it has overtaken the lease
    const lease = book.pages.find((page) => page.id === id)?.leases[epoch - 1]
    if (lease?.holder?.user_id !== participant.userId)
      wrong(`${of} is of somebody who does not hold control in epoch ${epoch}`)
    if (!participant.socket.open) wrong(`${of} is of an operator who has disconnected`)
    const newer = participants
      .slice(made.userIndex + 1)
      .some(
        (item) =>
          item.isOperator &&
          item.state !== null &&
          item.sessionId === id &&
          item.userId === participant.userId,
      )
    if (newer) wrong(`${of} is of an operator's older socket`)
    if (made.seq <= (to.lastSeqs.get(made.userIndex) ?? -1)) wrong(`${of} arrives out of order`)
    to.lastSeqs.set(made.userIndex, made.seq)
    const ageMs = nowMs() - made.madeMs - quickestOf(made)
    if (ageMs > made.ttlMs + slackOf(made)) wrong(`${of} is ${ageMs} ms old, valid for ${made.ttlMs}`)
    for (const { reason } of pendingStopsHere(id)) wrong(`${of} arrives after "${reason}" was requested`)
    const known = book.known.filter((item) => item.sessionId === id)
    const newest = known.reduce(
      (best, item) => (item.eventSeq >= best.eventSeq ? item : best),
      known[0] as never,
    )
    if (newest?.status !== 'ACTIVE')
      wrong(`${of} passes although the session is known to be ${newest?.status}`)
    if (newest?.stopReason) wrong(`${of} passes under the stop "${newest.stopReason}"`)
    if (to.latched !== null) wrong(`${of} follows a latched stop`)
    if (machine() !== to) wrong(`${of} goes to an older connection`)
    to.moving = true
  }

  /** Checks that a command at full speed arrives at the speed that the robot and the age of the command allow. */
  function checkSpeed(to: Machine, { data: { key, linear }, speed_scale = 1 }: Command): void {
    const made = frames.get(key)
    if (!made) return // reported by checkControl
    const participant = participants[made.userIndex] as TestParticipant
    const slackMs = (nowMs() - participant.firstMs + 1_000) * CLOCK_DRIFT * 2 + ROUNDING_MS
    const ageMs = nowMs() - made.madeMs - participant.quickestMs - slackMs
    const allowed = Math.max(MIN_SPEED_SCALE, Math.min(1, LATENCY_BUDGET_MS / Math.max(1, ageMs)))
    if (latencyBudgetMs === null) return
    if (to.speedScale === null) wrong(`frame ${key} arrives before the allowed speed`)
    if (linear > Math.min(allowed, to.speedScale ?? 1) + 1e-9)
      wrong(`frame ${key} has the speed ${linear}; ${allowed} and ${to.speedScale} are allowed`)
    if (Math.abs(linear - speed_scale) > 1e-9)
      wrong(`frame ${key} was scaled to ${linear}, not ${speed_scale}`)
  }

  function recordSent(to: Machine, frame: Sent, behind: number): void {
    if (typeof frame !== 'string') {
      if (behind > 0) wrong('control is queued behind frames that the robot has not read')
      const bytes = new Uint8Array(frame)
      const key = Buffer.from(bytes.subarray(16)).toString()
      const { raw } = frames.get(key) ?? {}
      if (!raw || !isForwarded(raw, bytes)) wrong(`binary frame ${key} differs from the frame that was sent`)
      to.ttlsMs.push(decodeBinaryHeader(bytes)?.ttlMs ?? Number.NaN)
      return checkControl(to, key, undefined)
    }
    const value = text(frame)
    if (value.type === 'control') {
      if (behind > 0) wrong('control is queued behind frames that the robot has not read')
      checkSpeed(to, value)
      to.received.push(value)
      to.ttlsMs.push(value.ttl_ms)
      return checkControl(to, value.data.key, value.session_id, value.epoch ?? 1)
    }
    if (value.type === 'limits') {
      to.speedScale = value.speed_scale
      to.received.push(value)
    } else if (value.type === 'session') {
      to.speedScale = null
      if (value.session_id !== to.sessionId) Object.assign(to, { sessionId: value.session_id, epoch: 1 })
    } else if (value.type === 'goal') {
      if (behind > 0) wrong('a goal is queued behind frames that the robot has not read')
      checkCommand(to, value.goal_id, value.session_id, value.epoch ?? 1)
      const made = frames.get(value.goal_id)
      const { userId } = participants[made?.userIndex ?? 0] as TestParticipant
      to.goal = { id: value.goal_id, userId }
      to.goals.push(value.goal_id)
      to.ttlsMs.push(value.ttl_ms)
    } else if (value.type === 'cancel_goal') {
      if (value.goal_id !== to.goal?.id) wrong(`${value.goal_id} is canceled, but not the goal of the robot`)
      to.canceled.push(value.goal_id)
      Object.assign(to, { goal: null, moving: false })
    } else if (value.type === 'lease') {
      if (value.epoch < to.epoch) wrong(`a lease of epoch ${value.epoch} follows one of ${to.epoch}`)
      beginEpoch(to, value.epoch)
    }
    if (value.type === 'welcome') {
      to.speedScale = value.limits?.speed_scale ?? null
      to.sessionId = value.session?.session_id
      Object.assign(to, { welcomed: true, sentMs: nowMs(), latched: value.stop?.reason ?? null })
      const id = value.session?.session_id
      // Once it is recorded and all participants have left, the gateway may evict it and query it again.
      const notification =
        id &&
        (participants.some(({ sessionId, socket }) => sessionId === id && socket.open) || !isRecorded(id))
      if (value.stop === null && notification && pendingStopsHere(id).length > 0)
        wrong('a welcome omits a requested stop')
    } else if (value.type === 'stop_cleared') to.latched = null
    else if (value.type === 'stop') {
      to.stops.push(value.reason)
      if (value.reason === 'deadman' && !value.latched && (!to.moving || to.goal))
        wrong('a deadman stop without commands')
      Object.assign(to, { goal: null, moving: false })
      if (!value.latched) return
      if (to.latched !== value.reason) to.answered = false
      Object.assign(to, { latched: value.reason, sentMs: nowMs() })
    }
  }

  /** Checks invariants that hold at any time. */
  function poll(): void {
    const to = machine()
    if (!to) return
    const arrivedMs = Math.max(...participants.map((participant) => participant.arrivedMs), 0)
    const { goal } = to
    if (goal && !participants.some((one) => one.isOperator && one.socket.open && one.userId === goal.userId))
      wrong('the robot drives to the goal of somebody who is not connected')
    if (to.moving && !goal && nowMs() - arrivedMs > DEADMAN_MS + 2 * SLICE_MS)
      wrong('the robot continues to move in silence')
    if (!to.socket.reading) to.sentMs = nowMs()
    if (to.latched !== null && !to.answered && nowMs() - to.sentMs > REPEATED_WITHIN_MS) {
      wrong(`the stop "${to.latched}" is not repeated`)
    }
    for (const { socket } of [...machines, ...participants]) {
      if (socket.mostUnreadBytes > 8_192)
        wrong(`${socket.mostUnreadBytes} bytes are queued for a client that does not read`)
    }
  }

  return {
    book,
    gateway,
    violations,
    errors,
    parties: participants,
    machines,
    stopRequests,
    passed,
    machine,
    attend: flushAsync,
    nowMs,
    pendingStops,

    /** Delays or resumes the database and the hints, which wait for `book.work()`, `answer()` and `deliverHints()`. */
    setQuick(isQuick: boolean): void {
      quick = isQuick
    },

    /** Advances the time; libraries answer pings, and the robot sends heartbeats. */
    async pass(ms: number): Promise<void> {
      for (let leftMs = ms; leftMs > 0; leftMs -= SLICE_MS) {
        vi.advanceTimersByTime(Math.min(leftMs, SLICE_MS))
        for (const { socket } of [...machines, ...participants]) socket.pong()
        if (robotBeats && nowMs() - beatMs >= BEAT_MS) {
          beatMs = nowMs()
          for (const { socket } of machines) socket.receiveFrame({ type: 'heartbeat' })
        }
        await flushAsync()
        poll()
      }
    },

    connectRobot(): Machine {
      const to: Machine = {
        welcomed: false,
        latched: null,
        sentMs: nowMs(),
        answered: false,
        moving: false,
        goal: null,
        goals: [],
        canceled: [],
        controls: 0,
        epoch: 1,
        sessionId: undefined,
        stops: [],
        speedScale: null,
        received: [],
        ttlsMs: [],
        lastSeqs: new Map(),
        sequence: new RobotSequence(),
        channel: channels.peer((frame) => to.socket.receiveFrame(frame)),
        socket: undefined as never, // assigned below: its peer refers to this object
      }
      const receive = (frame: Sent, behind: number) => {
        const unordered = to.sequence.unordered(frame)
        if (unordered !== undefined) recordSent(to, unordered, behind)
      }
      const socket = new FakeSocket(new RobotConnection(ROBOT_ID, 1, clockMs()), robots, { sent: receive })
      to.channel.onFrame = (frame) => receive(frame, 0)
      to.channel.onLost = (frame) => recordLost(to, frame)
      machines.push(Object.assign(to, { socket }))
      return to
    },

    /** The robot reports that it has halted. */
    answerStop(): void {
      const to = machine()
      if (!to) return
      to.socket.receiveFrame({ type: 'stopped', reason: to.latched ?? 'deadman' })
      if (to.latched !== null) to.answered = true
    },

    join(
      sessionId: string,
      part: 'control' | 'watch',
      { apartMs = 0, ppm = 0, userId = OPERATOR_ID } = {},
    ): TestParticipant {
      const number = participants.length
      const participant: TestParticipant = {
        number,
        userId,
        sessionId,
        isOperator: part === 'control',
        state: null,
        dropped: [],
        limits: [],
        answers: [],
        autonomy: [],
        seq: 0,
        apartMs,
        ppm,
        quickestMs: Number.POSITIVE_INFINITY,
        firstMs: 0,
        arrivedMs: 0,
        channel: channels.peer((frame) => participant.socket.receiveFrame(frame)),
        copies: [],
        stops: 0,
        socket: undefined as never,
      }
      participants.push(participant)
      const link = new ParticipantConnection(
        { sessionId, userId, organizationId: userId, part, permissionsVersion: 0, number: 1 },
        clockMs(),
      )
      const socket = new FakeSocket(link, users, {
        sent(frame, behind) {
          const passing = typeof frame !== 'string' || text(frame).type === 'telemetry'
          if (passing && behind > 0) wrong('telemetry is queued behind unread frames')
        },
        read(frame) {
          const value = text(frame)
          if (value?.type === 'state') participant.state = frame as string
          else if (value?.type === 'limits') participant.limits.push(value)
          else if (value?.type === 'autonomy') participant.autonomy.push(value)
          else if (value?.type === 'dropped') participant.dropped.push(value.why)
          else if (value?.type === 'error' || value?.type === 'pong') participant.answers.push(value)
        },
      })
      Object.assign(participant, { socket })
      return participant
    },

    /** Delivers a control frame that was created `delayMs` ago. */
    control(
      participant: TestParticipant,
      change: {
        delayMs?: number
        seqBy?: number
        /** Null: the frame has no lifetime. */
        ttlMs?: number | null
        binary?: boolean
        speedScale?: number | undefined
        /** Null for a picture of unknown age. */
        videoAgeMs?: number | null
        via?: Via
      } = {},
    ): string {
      const {
        delayMs = 0,
        seqBy = 1,
        ttlMs = DEADMAN_MS,
        binary = false,
        speedScale,
        videoAgeMs,
        via = 'websocket',
      } = change
      participant.seq = Math.max(0, participant.seq + seqBy)
      const { seq, number: userIndex } = participant
      const key = `${userIndex}:${frames.size}`
      const madeMs = nowMs() - delayMs
      const t = madeMs * (1 + participant.ppm / 1e6) - participant.apartMs
      const raw = binary
        ? encodeBinaryFrame({ kind: 1, flags: 0, ttlMs: ttlMs ?? 0, seq, t }, Buffer.from(key))
        : undefined
      frames.set(key, { userIndex, seq, madeMs, ttlMs: ttlMs ?? DEADMAN_MS, raw })
      if (participant.socket.open && participant.state !== null) {
        if (participant.quickestMs === Number.POSITIVE_INFINITY) participant.firstMs = nowMs()
        participant.quickestMs = Math.min(participant.quickestMs, delayMs)
      }
      // An admitted operator who does not read has not received the first state yet; control is valid nevertheless.
      if (participant.socket.open) participant.arrivedMs = nowMs()
      const frame = raw ?? {
        type: 'control',
        seq,
        t,
        ...(ttlMs !== null && { ttl_ms: ttlMs }),
        ...(videoAgeMs !== undefined && { video_age_ms: videoAgeMs }),
        data: { key, linear: speedScale ?? 1 },
        ...(speedScale !== undefined && { speed_scale: speedScale }),
      }
      participant.copies.push(frame)
      if (via !== 'websocket') participant.channel.send(frame)
      if (via !== 'channel' || !participant.channel.works) participant.socket.receiveFrame(frame)
      return key
    },

    /** The robot reports that it accepts goals, or how its goal went. */
    reportAutonomy(goal: Partial<GoalState> | null = null): void {
      const to = machine()
      if (!to) return
      const place = { goal_id: to.goal?.id ?? 'none', x: 1, y: 2, heading: 0 }
      if ((goal?.status ?? 'active') !== 'active' && goal?.goal_id === undefined)
        Object.assign(to, { goal: null, moving: false })
      to.socket.receiveFrame({
        type: 'autonomy',
        mode: 'autonomous',
        goal_frame: 'map',
        goal: goal && { ...place, status: 'active', ...goal },
      })
    },

    /** Delivers a goal that was created `delayMs` ago; returns its id. */
    goal(participant: TestParticipant, { delayMs = 0, seqBy = 1, frame = 'map' } = {}): string {
      participant.seq = Math.max(0, participant.seq + seqBy)
      const { seq, number: userIndex } = participant
      const id = `goal ${userIndex}:${frames.size}`
      const madeMs = nowMs() - delayMs
      const t = madeMs * (1 + participant.ppm / 1e6) - participant.apartMs
      frames.set(id, { userIndex, seq, madeMs, ttlMs: DEADMAN_MS, raw: undefined })
      if (participant.socket.open && participant.state !== null) {
        if (participant.quickestMs === Number.POSITIVE_INFINITY) participant.firstMs = nowMs()
        participant.quickestMs = Math.min(participant.quickestMs, delayMs)
      }
      const place = { goal_id: id, frame, x: 1, y: 2, heading: 0 }
      participant.socket.receiveFrame({ type: 'goal', seq, t, ttl_ms: DEADMAN_MS, ...place })
      return id
    },

    /** A participant requests a stop. */
    stopRequest(participant: TestParticipant, reason: string, via: Via = 'websocket'): void {
      if (!participant.socket.open || participant.state === null) return
      const { sessionId } = participant
      const isOpen = book.open()?.id === sessionId
      if (isOpen) stopRequests.push({ sessionId, reason, elsewhere: false, resolved: false })
      const to = machine()
      participant.stops++
      const frame = { type: 'stop', reason, n: participant.stops }
      if (via !== 'websocket') participant.channel.send(frame)
      if (via !== 'channel' || !participant.channel.works) participant.socket.receiveFrame(frame)
      if (
        to?.socket.open &&
        isOpen &&
        to.latched === null &&
        to.socket.link.controlSession?.session.id === sessionId
      ) {
        wrong(`the robot does not receive "${reason}" at once`)
      }
    },

    /** A copy of an earlier control frame arrives late, over either transport. */
    replay(participant: TestParticipant, back: number, via: Via): void {
      const { socket, channel } = participant
      const frame = participant.copies.at(-1 - back)
      if (!frame) return
      participant.arrivedMs = nowMs()
      if (via !== 'websocket') channel.send(frame)
      if (via !== 'channel') socket.receiveFrame(frame)
    },

    /** Ends all stop requests of this session: they were cleared, or the session has ended. */
    resolve(sessionId: string): void {
      for (const stopRequest of pendingStops(sessionId)) stopRequest.resolved = true
    },

    async end(): Promise<void> {
      quick = true
      book.setAway(false)
      for (const { socket } of [...participants, ...machines]) socket.lose()
      await through(gateway.drain())
      await through(gateway.close())
    },
  }
}
export type ControlFixture = Awaited<ReturnType<typeof createControlFixture>>
