/**
 * What the rules say, as plain arithmetic: two robots, their owners, operators and an admin. Nothing of the
 * platform's own code is used here; every answer, state and amount is worked out from the rules alone.
 */
export type Who = 'owner' | 'both' | 'alice' | 'admin'
export const people: readonly Who[] = ['owner', 'both', 'alice', 'admin']
/** Owners of the two robots; the second one also drives. */
export const owners = ['owner', 'both'] as const
const isOperator = (who: Who) => who === 'alice' || who === 'both'
const isClient = (who: Who) => who === 'owner' || who === 'both'

export const MINUTE_MS = 60_000
export const GRACE_MS = 2 * MINUTE_MS
const START_WINDOW_MS = 15 * MINUTE_MS
const DEFAULT_PLANNED_MINUTES = 60
const RATES = { standard: [50, 70], fleet: [40, 75] } as const
export type Plan = keyof typeof RATES

export const actions = [
  ...(['pause', 'resume', 'end', 'emergency_stop', 'clear_stop', 'request_clear_stop'] as const),
  ...(['cancel', 'start', 'approve_extension', 'decline_extension'] as const),
]
export type Action = (typeof actions)[number]
const parties: Record<Action, readonly ('operator' | 'client' | 'admin')[]> = {
  pause: ['operator', 'client', 'admin'],
  resume: ['operator'],
  end: ['operator', 'client', 'admin'],
  emergency_stop: ['operator', 'client', 'admin'],
  clear_stop: ['operator', 'client', 'admin'],
  request_clear_stop: ['operator'],
  cancel: ['operator', 'client'],
  start: ['operator'],
  approve_extension: ['operator'],
  decline_extension: ['operator'],
}

interface Robot {
  readonly owner: Who
  connected: boolean
  /** Start of its connection, or the last sign of life of the one that ended. */
  lastSignMs: number
  /** A session ended under a stop that only the owner or an admin clears: none starts until the owner releases it. */
  onHold: boolean
}

export interface Session {
  id: string
  readonly robot: number
  readonly operator: Who
  readonly client: Who
  readonly scheduledForMs: number | null
  status: 'PENDING' | 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'CANCELLED'
  /** The newest stretch of ACTIVE time. */
  stretch: { sinceMs: number; untilMs: number | null } | null
  activeMs: number
  outageMs: number
  lostAtMs: number | null
  stopped: boolean
  /** One of the stops in force came from the owner or an admin. */
  stoppedByOwner: boolean
  askedToClearMs: number | null
  plannedMinutes: number | null
  startedMs: number | null
  asked: number | null
  price: readonly [rate: number, share: number] | null
  charge: number | null
  earnings: number | null
  rating: number | null
  endReason: string | null
  log: string[]
}

export function createModel(startMs: number) {
  const robots: Robot[] = owners.map((owner) => ({
    ...{ owner, connected: true, lastSignMs: startMs },
    onHold: false,
  }))
  const sessions: Session[] = []
  const plans: Record<'owner' | 'both', Plan> = { owner: 'standard', both: 'standard' }

  const isOpen = (one: Session) => one.status === 'ACTIVE' || one.status === 'PAUSED'
  const openOn = (robot: number) => sessions.find((one) => one.robot === robot && isOpen(one))
  const isBusy = (who: Who) => sessions.some((one) => one.operator === who && isOpen(one))
  const robotStatus = (robot: number) => {
    if (openOn(robot)) return 'IN_SESSION'
    return robots[robot]?.connected ? 'AVAILABLE' : 'OFFLINE'
  }
  /** Where the planned window begins. */
  const windowMs = (one: Session) =>
    Math.min(one.scheduledForMs ?? Number.POSITIVE_INFINITY, one.startedMs ?? Number.POSITIVE_INFINITY)
  /** Whether another session of the robot or the operator is planned for a part of a time. */
  const isTaken = (of: Pick<Session, 'robot' | 'operator'>, fromMs: number, minutes: number) =>
    sessions.some(
      (one) =>
        one !== of &&
        (one.robot === of.robot || one.operator === of.operator) &&
        (one.status === 'PENDING' || isOpen(one)) &&
        one.plannedMinutes !== null &&
        fromMs < windowMs(one) + one.plannedMinutes * MINUTE_MS &&
        windowMs(one) < fromMs + minutes * MINUTE_MS,
    )
  const extendedMinutes = (one: Session, minutes: number, atMs: number) =>
    Math.max(one.plannedMinutes ?? 0, Math.floor((atMs - windowMs(one)) / MINUTE_MS)) + minutes
  const mayStart = (operator: Who, robot: number) =>
    robotStatus(robot) === 'AVAILABLE' && !robots[robot]?.onHold && !isBusy(operator)

  function stopCounting(one: Session, atMs: number): void {
    const robot = robots[one.robot] as Robot
    const { stretch } = one
    if (!stretch) return
    const knownEndMs = stretch.untilMs ?? atMs
    const signMs = robot.connected ? Number.POSITIVE_INFINITY : robot.lastSignMs
    const endMs = Math.max(stretch.sinceMs, Math.min(knownEndMs, signMs))
    if (stretch.untilMs === null) one.activeMs += Math.max(0, atMs - stretch.sinceMs)
    one.outageMs += Math.max(0, knownEndMs - endMs)
    stretch.untilMs = endMs
  }
  function begin(one: Session, atMs: number): void {
    one.status = 'ACTIVE'
    one.startedMs = atMs
    one.stretch = { sinceMs: atMs, untilMs: null }
    one.price = RATES[plans[one.client as 'owner' | 'both']]
    one.log.push('session.started')
  }
  function pause(one: Session, atMs: number, entry: string): void {
    stopCounting(one, atMs)
    one.status = 'PAUSED'
    one.log.push(entry)
  }
  function end(one: Session, atMs: number, reason: string, who?: Who): void {
    stopCounting(one, atMs)
    const robot = robots[one.robot] as Robot
    robot.onHold ||= one.stoppedByOwner && who !== one.client && who !== 'admin'
    Object.assign(one, { status: 'COMPLETED', stopped: false, asked: null, endReason: reason })
    Object.assign(one, { stoppedByOwner: false, askedToClearMs: null })
    const [rate, share] = one.price as readonly [number, number]
    one.charge = Math.ceil((one.activeMs - one.outageMs) / MINUTE_MS) * rate
    one.earnings = one.operator === one.client ? 0 : Math.floor((one.charge * share) / 100)
    one.log.push('session.ended')
  }
  function cancel(one: Session, reason: string): void {
    Object.assign(one, { status: 'CANCELLED', endReason: reason })
    one.log.push('session.cancelled')
  }
  function lose(one: Session, atMs: number): void {
    if (one.lostAtMs !== null) return
    pause(one, atMs, 'robot.lost')
    one.lostAtMs = atMs
  }
  function add(operator: Who, robot: number, scheduledForMs: number | null): Session {
    const client = (robots[robot] as Robot).owner
    const one: Session = {
      ...{ id: '', robot, operator, client, scheduledForMs, status: 'PENDING', stretch: null, activeMs: 0 },
      ...{ stoppedByOwner: false, askedToClearMs: null },
      ...{ outageMs: 0, lostAtMs: null, stopped: false, startedMs: null, asked: null, price: null },
      ...{ plannedMinutes: scheduledForMs === null ? null : DEFAULT_PLANNED_MINUTES },
      ...{ charge: null, earnings: null, rating: null, endReason: null, log: [] },
    }
    sessions.push(one)
    return one
  }
  /** Null when they may go on. */
  function refused(who: Who, one: Session, sides: readonly string[]): number | null {
    const own = [
      ...(one.operator === who ? ['operator'] : []),
      ...(one.client === who ? ['client'] : []),
      ...(who === 'admin' ? ['admin'] : []),
    ]
    if (own.length === 0) return 404
    return own.some((side) => sides.includes(side)) ? null : 403
  }

  const moves: Record<Action, (one: Session, atMs: number, who: Who) => boolean | 403> = {
    pause(one, atMs) {
      if (one.status !== 'ACTIVE') return false
      pause(one, atMs, 'session.paused')
      return true
    },
    resume(one, atMs) {
      if (one.status !== 'PAUSED' || one.stopped || !robots[one.robot]?.connected) return false
      one.status = 'ACTIVE'
      one.stretch = { sinceMs: atMs, untilMs: null }
      one.log.push('session.resumed')
      return true
    },
    end(one, atMs, who) {
      if (!isOpen(one)) return false
      end(one, atMs, 'ended', who)
      return true
    },
    emergency_stop(one, atMs, who) {
      if (!isOpen(one)) return false
      const byOwner = who === one.client || who !== one.operator
      if (!one.stopped) pause(one, atMs, 'session.stopped')
      else if (byOwner && !one.stoppedByOwner) one.log.push('session.stopped')
      one.stopped = true
      one.stoppedByOwner ||= byOwner
      return true
    },
    clear_stop(one, _atMs, who) {
      if (!one.stopped) return false
      if (one.stoppedByOwner && who === one.operator && who !== one.client) return 403
      Object.assign(one, { stopped: false, stoppedByOwner: false, askedToClearMs: null })
      one.log.push('session.stop_cleared')
      return true
    },
    request_clear_stop(one, atMs, who) {
      if (!one.stopped || !one.stoppedByOwner || who === one.client) return false
      if (one.askedToClearMs !== null && atMs - one.askedToClearMs < MINUTE_MS) return true
      one.askedToClearMs = atMs
      one.log.push('session.stop_clear_requested')
      return true
    },
    cancel(one) {
      if (one.status !== 'PENDING') return false
      cancel(one, 'cancelled')
      return true
    },
    start(one, atMs) {
      if (one.status !== 'PENDING' || !mayStart(one.operator, one.robot)) return false
      const fromMs = Math.min(one.scheduledForMs as number, atMs)
      if (isTaken(one, fromMs, one.plannedMinutes as number)) return false
      begin(one, atMs)
      return true
    },
    approve_extension(one, atMs) {
      if (!isOpen(one) || one.asked === null) return false
      const minutes = extendedMinutes(one, one.asked, atMs)
      if (isTaken(one, windowMs(one), minutes)) return false
      one.plannedMinutes = minutes
      one.asked = null
      one.log.push('extension.approved')
      return true
    },
    decline_extension(one) {
      if (!isOpen(one) || one.asked === null) return false
      one.asked = null
      one.log.push('extension.declined')
      return true
    },
  }

  return {
    ...{ robots, sessions, plans, robotStatus },

    /** Each answers with the HTTP status that the platform must give. */
    start(who: Who, robot: number, atMs: number, scheduledForMs: number | null): number {
      if (who === 'admin') return 400 // has to name an operator
      if (!isOperator(who)) return 403
      if (!mayStart(who, robot)) return 409
      const wanted = { robot, operator: who }
      if (scheduledForMs !== null && isTaken(wanted, scheduledForMs, DEFAULT_PLANNED_MINUTES)) return 409
      const one = add(who, robot, scheduledForMs)
      if (scheduledForMs === null) begin(one, atMs)
      else one.log.push('session.scheduled')
      return 201
    },
    act(who: Who, one: Session, action: Action, atMs: number): number {
      const refusal = refused(who, one, parties[action])
      if (refusal !== null) return refusal
      const done = moves[action](one, atMs, who)
      return typeof done === 'number' ? done : done ? 200 : 409
    },
    extend(who: Who, one: Session, minutes: number, atMs: number): number {
      const refusal = refused(who, one, ['client'])
      if (refusal) return refusal
      if (one.status !== 'ACTIVE' || one.asked !== null) return 409
      if (isTaken(one, windowMs(one), extendedMinutes(one, minutes, atMs))) return 409
      one.asked = minutes
      one.log.push('extension.requested')
      return 200
    },
    rate(who: Who, one: Session, rating: number): number {
      if (!isClient(who)) return 403
      const refusal = refused(who, one, ['client'])
      if (refusal) return refusal
      if (one.operator === one.client) return 403
      if (one.status !== 'COMPLETED' || one.rating !== null) return 409
      one.rating = rating
      one.log.push('session.rated')
      return 200
    },
    plan(who: Who, client: 'owner' | 'both', plan: Plan): number {
      if (who !== 'admin') return 403
      plans[client] = plan
      return 200
    },
    /** The robot's connection ends; `told`: its gateway lives and says so to the session. */
    lose(robot: number, atMs: number, signMs: number, told: boolean): void {
      const one = robots[robot] as Robot
      one.connected = false
      one.lastSignMs = Math.max(one.lastSignMs, signMs)
      const session = openOn(robot)
      if (told && session) lose(session, atMs)
    },
    connect(robot: number, atMs: number): void {
      Object.assign(robots[robot] as Robot, { connected: true, lastSignMs: atMs })
      const session = openOn(robot)
      if (!session || session.lostAtMs === null) return
      session.lostAtMs = null
      session.log.push('robot.back')
    },
    /** One round of the worker. */
    tick(atMs: number): void {
      for (const one of sessions.filter(isOpen)) {
        if (!robots[one.robot]?.connected) lose(one, atMs)
        if (one.lostAtMs !== null && one.lostAtMs < atMs - GRACE_MS) end(one, atMs, 'robot_lost')
      }
      const due = sessions
        .filter((one) => one.status === 'PENDING' && (one.scheduledForMs as number) <= atMs)
        .sort((a, b) => (b.scheduledForMs as number) - (a.scheduledForMs as number))
      for (const one of due) {
        if (openOn(one.robot)?.operator === one.operator) cancel(one, 'superseded')
      }
      for (const one of due.filter(({ status }) => status === 'PENDING')) {
        if (atMs - (one.scheduledForMs as number) >= START_WINDOW_MS) cancel(one, 'not_started')
        else if (mayStart(one.operator, one.robot)) begin(one, atMs)
      }
    },
  }
}
export type Model = ReturnType<typeof createModel>
