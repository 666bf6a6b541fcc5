import type { ControlKind, ControlSchema, Lease, OrganizationRole, SessionStatus } from '@wheelhouse/protocol'
import type { BusTopic, BusTopics } from '../../../src/core/events/bus.ts'
import type { Presence } from '../../../src/modules/presence/presence.service.ts'
import type { LinkState, OpenSession, PresenceStore } from '../../../src/modules/presence/presence.store.ts'
import type {
  ControlPersistence,
  LatencyIncrement,
} from '../../../src/modules/sessions/control/control-persistence.service.ts'
import { leaseOf } from './lease.ts'

/** One robot and its sessions as the database stores them, with the rules of their transitions. */
interface Page {
  readonly id: string
  status: SessionStatus
  eventSeq: number
  /** Who held control in each epoch, from the first. */
  readonly leases: Lease[]
  driven: boolean
  stopReason: string | null
  activeSinceMs: number
  robotLost: boolean
  readonly log: { type: string; reason?: string | undefined }[]
  readonly latency: { frames: number; dropped: number }
}

interface Call {
  readonly work: () => unknown
  /** It waits until the database is available, without a limit. */
  readonly patient: boolean
  readonly settle: (outcome: () => unknown) => void
}

/** A participant whose access to the session was revoked while the socket is open. */
export const UNRELATED_USER_ID = '00000000-0000-4000-b000-000000000000'

/** A session state that the gateway has received, and its time: nothing may pass that contradicts it. */
interface Known {
  readonly sessionId: string
  readonly eventSeq: number
  readonly status: SessionStatus
  readonly stopReason: string | null
}

/**
 * Creates the database as one gateway sees it, in memory. Every query waits until the database works, and every answer until
 * it is delivered, so that other events can happen in between. Hints wait to be delivered, or get lost.
 */
export function createSessionBook(parts: {
  robotId: string
  operatorId: string
  latencyLimitMs: number
  latencyBudgetMs: number | null
  videoLimitMs: number | null
  /** Of a robot in strict mode; null for one without. */
  controlSchema: ControlSchema | null
  /** Incremented when the robot's connection changes: answers to earlier queries do not count. */
  connection: () => unknown
}) {
  const { robotId, operatorId, latencyLimitMs, controlSchema, connection } = parts
  let { latencyBudgetMs, videoLimitMs } = parts
  const pages: Page[] = []
  let calls: Call[] = []
  let answers: (() => void)[] = []
  let hints: { topic: BusTopic; message: never }[] = []
  const listeners = new Map<BusTopic, ((message: never) => void)[]>()
  let away = false
  let epoch = 0
  let nodeId: string | null = null
  let connected = false
  let changed = false
  /** All session states that reached the gateway, newest last. */
  const known: Known[] = []

  const open = () => pages.find(({ status }) => status === 'ACTIVE' || status === 'PAUSED')
  const page = (id: string) => pages.find((current) => current.id === id)

  function call<T>(work: () => T, patient = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = (outcome: () => unknown) => {
        answers.push(() => {
          try {
            resolve(outcome() as T)
          } catch (cause) {
            reject(cause)
          }
        })
      }
      calls.push({ work, patient, settle })
    })
  }

  function hint<T extends BusTopic>(topic: T, message: BusTopics[T]): void {
    hints.push({ topic, message: message as never })
  }

  function note(current: Page, type: string, change: Partial<Page>, reason?: string): void {
    Object.assign(current, change)
    current.eventSeq++
    current.log.push({ type, reason })
    changed = true
    hint('robots.changed', { robotIds: [robotId] })
  }

  function snapshot(): OpenSession | null {
    const current = open()
    if (!current) return null
    const { id, status, eventSeq, driven, stopReason, activeSinceMs, leases } = current
    const lease = leases.at(-1) as Lease
    const seen = { id, status, eventSeq, driven, stopReason, activeSinceMs }
    const stop = { stopByRole: stopReason === null ? null : ('operator' as const), stopByOwner: false }
    const owner = {
      clientId: 'owner',
      groupId: null,
      operatorGone: false,
      stopClear: 'owner' as const,
      controlSchema,
      telemetrySchema: null,
      strictControl: controlSchema !== null,
      recording: 'off' as const,
    }
    const limits = { latencyLimitMs, latencyBudgetMs, videoLimitMs }
    return {
      ...seen,
      operatorId,
      operatorName: 'Olga',
      lease,
      ...limits,
      ...stop,
      ...owner,
    }
  }

  /** Records an answer when it reaches the gateway. */
  function conditional<T>(answer: T, session: OpenSession | null): (counts: boolean) => T {
    return (counts) => {
      if (!counts) return answer
      if (session) {
        const { id: sessionId, eventSeq, status, stopReason } = session
        known.push({ sessionId, eventSeq, status, stopReason })
      } else known.push({ sessionId: '', eventSeq: 0, status: 'COMPLETED', stopReason: null })
      return answer
    }
  }
  /** Does the same as `call`, for queries whose answer contains the robot's session. */
  async function ask<T>(work: () => T, patient = false): Promise<T> {
    const asked = connection()
    const arrive = await call(() => conditional(work(), snapshot()), patient)
    return arrive(patient || connection() === asked)
  }

  function latch(current: Page, reason: string, userId: string): number {
    if (current.stopReason === null)
      note(current, 'session.stopped', { status: 'PAUSED', stopReason: reason }, reason)
    const { eventSeq } = current
    const by = { userId, byRole: 'operator' as const, byOwner: false }
    hint('robot.stop', {
      sessionId: current.id,
      reason: current.stopReason ?? reason,
      eventSeq,
      ...by,
    })
    return eventSeq
  }

  function transferTo(current: Page, userId: string | null, kind: ControlKind = 'operator'): void {
    const lease = leaseOf(userId, current.leases.length + 1, kind)
    current.leases.push(lease)
    note(current, 'control.transferred', {})
    hint('control.transferred', { sessionId: current.id, ...lease })
  }

  function lost(): void {
    const current = open()
    if (current && !current.robotLost) note(current, 'robot.lost', { status: 'PAUSED', robotLost: true })
  }
  function back(): void {
    const current = open()
    if (current?.robotLost && connected) note(current, 'robot.back', { robotLost: false })
  }

  const controlPersistence: ControlPersistence = {
    recordStop: ({ sessionId, userId }, reason = 'emergency_stop') =>
      call(() => {
        const current = page(sessionId)
        if (userId === UNRELATED_USER_ID) return 'over'
        return current && current === open() ? latch(current, reason, userId) : 'over'
      }),
    operatorLost: (sessionId, { epoch: lostEpoch, connectedUserIds } = { epoch: 1, connectedUserIds: [] }) =>
      call(() => {
        const current = page(sessionId)
        if (current?.status !== 'ACTIVE') return false
        const lease = current.leases.at(-1)
        if (lease?.epoch !== lostEpoch) return false
        if (lease.holder?.user_id !== operatorId) {
          const heir = connectedUserIds.includes(operatorId) ? operatorId : null
          transferTo(current, heir)
          if (heir === null) note(current, 'session.paused', { status: 'PAUSED' }, 'control_vacant')
          return true
        }
        note(current, 'session.paused', { status: 'PAUSED' }, 'operator_lost')
        return true
      }),
    // The model has no countdown, so no return is recorded.
    recordReturn: () => call(() => undefined),
    recordJoin: (sessionId) =>
      call(() => {
        const current = page(sessionId)
        if (!current || current !== open()) return undefined
        current.driven = true
        return current.eventSeq
      }),
    addLatency: (sessionId, { frames, dropped }: LatencyIncrement) =>
      call(() => {
        const sum = page(sessionId)?.latency
        if (sum) Object.assign(sum, { frames: sum.frames + frames, dropped: sum.dropped + dropped })
      }),
    endedCredentials: () => call(() => []),
    revokedParticipants: () => call(() => []),
  }

  const linkStates = (): LinkState[] => [
    { robotId, tokenVersion: 1, epoch, nodeId, connected, session: snapshot() },
  ]
  const store: Pick<
    PresenceStore,
    | 'linkStates'
    | 'changedWithin'
    | 'connectedTo'
    | 'renewNode'
    | 'drainNode'
    | 'removeNode'
    | 'saveHeartbeats'
  > = {
    linkStates: () => ask(linkStates),
    changedWithin: () => call(() => (changed ? [robotId] : [])),
    connectedTo: (node) => call(() => (connected && nodeId === node ? [{ robotId, epoch }] : [])),
    renewNode: () => call(() => {}),
    drainNode: () => call(() => {}),
    removeNode: () => call(() => true),
    saveHeartbeats: (beats) => call(() => beats.filter((beat) => connected && beat.epoch === epoch).length),
  }

  const presence: Presence = {
    async connect({ isOpen }) {
      const answer = await ask(() => {
        if (!isOpen()) return undefined
        epoch++
        connected = true
        nodeId = 'here'
        changed = true
        return { epoch, session: snapshot() }
      }, true)
      if (!answer) return undefined
      if (answer.session) void call(back, true)
      const unchanged = { status: 'AVAILABLE', takenOver: false, handedOver: false, lastSign: null } as const
      return { robotId, ownerId: 'owner', ...unchanged, ...answer }
    },
    disconnect: (missing) =>
      call(() => {
        if (missing.epoch !== epoch || !connected) return
        connected = false
        changed = true
        lost()
      }, true),
    idle: async () => {},
  }

  return {
    controlPersistence,
    store,
    presence,
    pages,
    known,
    open,
    ticketStore: { verdictOf: () => call(() => 'valid' as const) },
    // Outside of the session book: nothing is recorded, and no test of control waits for the list.
    recorderNodes: { live: async () => [] },
    streams: { addGapOfSession: async () => {} },
    accounts: {
      apiKeys: { revokedWithin: () => call((): string[] => []) },
      users: {
        permissionsChangedWithin: () => call((): { id: string; permissions_version: number }[] => []),
      },
    },
    bus: {
      publish: hint,
      subscribe<T extends BusTopic>(topic: T, listener: (message: BusTopics[T]) => void): () => void {
        listeners.set(topic, [...(listeners.get(topic) ?? []), listener as (message: never) => void])
        return () => {}
      },
    },

    /** Sets whether the database is unavailable: new queries fail, or wait. */
    setAway(isAway: boolean): void {
      away = isAway
    },
    get waits(): boolean {
      return calls.length > 0 || answers.length > 0 || hints.length > 0
    },
    /** The database executes the queued queries. Their answers are then in transit. */
    work(): void {
      const due = calls
      calls = []
      for (const current of due) {
        if (away && current.patient) calls.push(current)
        else if (away) {
          current.settle(() => {
            throw new Error('the database is unavailable')
          })
        } else {
          const answer = current.work()
          current.settle(() => answer)
        }
      }
    },
    answer(): void {
      const due = answers
      answers = []
      for (const arrive of due) arrive()
    },
    deliverHints({ lose = false } = {}): void {
      const due = hints
      hints = []
      if (lose) return
      for (const { topic, message } of due) {
        if (topic === 'robot.stop') {
          const { sessionId, reason, eventSeq } = message as BusTopics['robot.stop']
          if (eventSeq !== null) known.push({ sessionId, eventSeq, status: 'PAUSED', stopReason: reason })
        }
        for (const listener of listeners.get(topic) ?? []) listener(message)
      }
    },

    // Actions of users at the API, and of robots at other gateways. Each returns whether it was possible.

    start(nowMs: number): boolean {
      if (open() || !connected || away) return false
      const id = `00000000-0000-4000-8000-${String(pages.length).padStart(12, '0')}`
      const current: Page = {
        id,
        status: 'ACTIVE',
        eventSeq: 0,
        leases: [leaseOf(operatorId)],
        driven: false,
        stopReason: null,
        activeSinceMs: nowMs,
        robotLost: false,
        log: [],
        latency: { frames: 0, dropped: 0 },
      }
      pages.push(current)
      note(current, 'session.started', {})
      return true
    },
    pause(): boolean {
      const current = open()
      if (away || current?.status !== 'ACTIVE') return false
      note(current, 'session.paused', { status: 'PAUSED' })
      return true
    },
    resume(nowMs: number): boolean {
      const current = open()
      if (away || current?.status !== 'PAUSED' || current.stopReason !== null || !connected) return false
      back()
      note(current, 'session.resumed', { status: 'ACTIVE', activeSinceMs: nowMs })
      return true
    },
    /** The owner changes the latency budget of the robot. */
    setLatencyBudget(budgetMs: number | null): void {
      latencyBudgetMs = budgetMs
      changed = true
      hint('robots.changed', { robotIds: [robotId] })
    },
    /** The owner changes the limit of the picture's age. */
    setVideoLimit(limitMs: number | null): void {
      videoLimitMs = limitMs
      changed = true
      hint('robots.changed', { robotIds: [robotId] })
    },
    /** Control changes hands; null for nobody, which pauses the session. */
    transfer(userId: string | null, kind?: ControlKind): boolean {
      const current = open()
      if (away || !current) return false
      transferTo(current, userId, kind)
      if (userId === null && current.status === 'ACTIVE')
        note(current, 'session.paused', { status: 'PAUSED' }, 'control_vacant')
      return true
    },
    /** A user begins to change who holds control, or is refused. */
    changing(userId: string, role: OrganizationRole, begins: boolean): void {
      const current = open()
      const organization = { id: 'owner', role, groupIds: null }
      if (current) hint('control.changing', { sessionId: current.id, begins, userId, organization })
    },
    stop(reason: string): boolean {
      const current = open()
      if (away || !current) return false
      latch(current, reason, 'user')
      return true
    },
    /** A user requests a stop at the hub while the database is unavailable to it. */
    stopUnrecorded(sessionId: string, reason: string, sender?: 'recording' | 'refused'): void {
      const by = { userId: operatorId, byRole: null, byOwner: false }
      hint('robot.stop', { sessionId, reason, eventSeq: null, ...(sender && { sender }), ...by })
    },
    clear(): boolean {
      const current = open()
      if (away || current === undefined || current.stopReason === null) return false
      note(current, 'session.stop_cleared', { stopReason: null })
      return true
    },
    end(): boolean {
      const current = open()
      if (away || !current) return false
      note(current, 'session.ended', { status: 'COMPLETED', stopReason: null })
      return true
    },
    /** The robot connects to another gateway. */
    relocateRobot(): boolean {
      if (away) return false
      epoch++
      connected = true
      nodeId = 'there'
      changed = true
      back()
      hint('robots.changed', { robotIds: [robotId] })
      return true
    },
    /** The robot's connection to the other gateway is lost. */
    loseElsewhere(): boolean {
      if (away || nodeId !== 'there' || !connected) return false
      connected = false
      lost()
      return true
    },
    get isHere(): boolean {
      return connected && nodeId === 'here'
    },
  }
}
