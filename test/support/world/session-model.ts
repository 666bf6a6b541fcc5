/**
 * A model of the rules as plain arithmetic: two robots, their owners, operators and an admin. It uses none of the
 * platform's code; every answer, state and amount follows from the rules.
 */
export type Who = 'owner' | 'both' | 'alice' | 'admin'
export const users: readonly Who[] = ['owner', 'both', 'alice', 'admin']
/** Owners of the two robots; the second one is also an operator. */
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
const participants: Record<Action, readonly ('operator' | 'client' | 'admin')[]> = {
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
  /** Start of its connection, or the last frame of the connection that ended. */
  lastSignMs: number
  /** A session ended under a stop that only the owner or an admin clears: none starts until its owner releases it. */
  onHold: boolean
}

export interface Session {
  id: string
  readonly robot: number
  readonly operator: Who
  readonly client: Who
  readonly scheduledForMs: number | null
  status: 'PENDING' | 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'CANCELLED'
  /** The newest period of ACTIVE time. */
  interval: { sinceMs: number; untilMs: number | null } | null
  activeMs: number
  outageMs: number
  lostAtMs: number | null
  stopped: boolean
  /** One of the stops in force is from the owner or an admin. */
  stoppedByOwner: boolean
  askedToClearMs: number | null
  plannedMinutes: number | null
  startedMs: number | null
  requestedMinutes: number | null
  price: readonly [rate: number, share: number] | null
  charge: number | null
  earnings: number | null
  rating: number | null
  endReason: string | null
  log: string[]
}

export function createModel(startMs: number) {
  const robots: Robot[] = owners.map((owner) => ({
    owner,
    connected: true,
    lastSignMs: startMs,
    onHold: false,
  }))
  const sessions: Session[] = []
  const plans: Record<'owner' | 'both', Plan> = { owner: 'standard', both: 'standard' }

  const isOpen = (target: Session) => target.status === 'ACTIVE' || target.status === 'PAUSED'
  const openOn = (robot: number) => sessions.find((target) => target.robot === robot && isOpen(target))
  const isBusy = (who: Who) => sessions.some((target) => target.operator === who && isOpen(target))
  const robotStatus = (robot: number) => {
    if (openOn(robot)) return 'IN_SESSION'
    return robots[robot]?.connected ? 'AVAILABLE' : 'OFFLINE'
  }
  /** Returns the beginning of the planned window. */
  const windowMs = (target: Session) =>
    Math.min(target.scheduledForMs ?? Number.POSITIVE_INFINITY, target.startedMs ?? Number.POSITIVE_INFINITY)
  /** Returns whether another session of the robot or the operator is planned for part of a time. */
  const isTaken = (of: Pick<Session, 'robot' | 'operator'>, fromMs: number, minutes: number) =>
    sessions.some(
      (target) =>
        target !== of &&
        (target.robot === of.robot || target.operator === of.operator) &&
        (target.status === 'PENDING' || isOpen(target)) &&
        target.plannedMinutes !== null &&
        fromMs < windowMs(target) + target.plannedMinutes * MINUTE_MS &&
        windowMs(target) < fromMs + minutes * MINUTE_MS,
    )
  const extendedMinutes = (target: Session, minutes: number, atMs: number) =>
    Math.max(target.plannedMinutes ?? 0, Math.floor((atMs - windowMs(target)) / MINUTE_MS)) + minutes
  const mayStart = (operator: Who, robot: number) =>
    robotStatus(robot) === 'AVAILABLE' && !robots[robot]?.onHold && !isBusy(operator)

  function stopCounting(target: Session, atMs: number): void {
    const robot = robots[target.robot] as Robot
    const { interval } = target
    if (!interval) return
    const knownEndMs = interval.untilMs ?? atMs
    const signMs = robot.connected ? Number.POSITIVE_INFINITY : robot.lastSignMs
    const endMs = Math.max(interval.sinceMs, Math.min(knownEndMs, signMs))
    if (interval.untilMs === null) target.activeMs += Math.max(0, atMs - interval.sinceMs)
    target.outageMs += Math.max(0, knownEndMs - endMs)
    interval.untilMs = endMs
  }
  function begin(target: Session, atMs: number): void {
    target.status = 'ACTIVE'
    target.startedMs = atMs
    target.interval = { sinceMs: atMs, untilMs: null }
    target.price = RATES[plans[target.client as 'owner' | 'both']]
    target.log.push('session.started')
  }
  function pause(target: Session, atMs: number, entry: string): void {
    stopCounting(target, atMs)
    target.status = 'PAUSED'
    target.log.push(entry)
  }
  function end(target: Session, atMs: number, reason: string, who?: Who): void {
    stopCounting(target, atMs)
    const robot = robots[target.robot] as Robot
    robot.onHold ||= target.stoppedByOwner && who !== target.client && who !== 'admin'
    Object.assign(target, { status: 'COMPLETED', stopped: false, requestedMinutes: null, endReason: reason })
    Object.assign(target, { stoppedByOwner: false, askedToClearMs: null })
    const [rate, share] = target.price as readonly [number, number]
    target.charge = Math.ceil((target.activeMs - target.outageMs) / MINUTE_MS) * rate
    target.earnings = target.operator === target.client ? 0 : Math.floor((target.charge * share) / 100)
    target.log.push('session.ended')
  }
  function cancel(target: Session, reason: string): void {
    Object.assign(target, { status: 'CANCELLED', endReason: reason })
    target.log.push('session.cancelled')
  }
  function lose(target: Session, atMs: number): void {
    if (target.lostAtMs !== null) return
    pause(target, atMs, 'robot.lost')
    target.lostAtMs = atMs
  }
  function add(operator: Who, robot: number, scheduledForMs: number | null): Session {
    const client = (robots[robot] as Robot).owner
    const target: Session = {
      id: '',
      robot,
      operator,
      client,
      scheduledForMs,
      status: 'PENDING',
      interval: null,
      activeMs: 0,
      stoppedByOwner: false,
      askedToClearMs: null,
      outageMs: 0,
      lostAtMs: null,
      stopped: false,
      startedMs: null,
      requestedMinutes: null,
      price: null,
      plannedMinutes: scheduledForMs === null ? null : DEFAULT_PLANNED_MINUTES,
      charge: null,
      earnings: null,
      rating: null,
      endReason: null,
      log: [],
    }
    sessions.push(target)
    return target
  }
  /** Returns null when they may continue. */
  function refused(who: Who, target: Session, sides: readonly string[]): number | null {
    const own = [
      ...(target.operator === who ? ['operator'] : []),
      ...(target.client === who ? ['client'] : []),
      ...(who === 'admin' ? ['admin'] : []),
    ]
    if (own.length === 0) return 404
    return own.some((side) => sides.includes(side)) ? null : 403
  }

  const steps: Record<Action, (target: Session, atMs: number, who: Who) => boolean | 403> = {
    pause(target, atMs) {
      if (target.status !== 'ACTIVE') return false
      pause(target, atMs, 'session.paused')
      return true
    },
    resume(target, atMs) {
      if (target.status !== 'PAUSED' || target.stopped || !robots[target.robot]?.connected) return false
      target.status = 'ACTIVE'
      target.interval = { sinceMs: atMs, untilMs: null }
      target.log.push('session.resumed')
      return true
    },
    end(target, atMs, who) {
      if (!isOpen(target)) return false
      end(target, atMs, 'ended', who)
      return true
    },
    emergency_stop(target, atMs, who) {
      if (!isOpen(target)) return false
      const byOwner = who === target.client || who !== target.operator
      if (!target.stopped) pause(target, atMs, 'session.stopped')
      else if (byOwner && !target.stoppedByOwner) target.log.push('session.stopped')
      target.stopped = true
      target.stoppedByOwner ||= byOwner
      return true
    },
    clear_stop(target, _atMs, who) {
      if (!target.stopped) return false
      if (target.stoppedByOwner && who === target.operator && who !== target.client) return 403
      Object.assign(target, { stopped: false, stoppedByOwner: false, askedToClearMs: null })
      target.log.push('session.stop_cleared')
      return true
    },
    request_clear_stop(target, atMs, who) {
      if (!target.stopped || !target.stoppedByOwner || who === target.client) return false
      if (target.askedToClearMs !== null && atMs - target.askedToClearMs < MINUTE_MS) return true
      target.askedToClearMs = atMs
      target.log.push('session.stop_clear_requested')
      return true
    },
    cancel(target) {
      if (target.status !== 'PENDING') return false
      cancel(target, 'cancelled')
      return true
    },
    start(target, atMs) {
      if (target.status !== 'PENDING' || !mayStart(target.operator, target.robot)) return false
      const fromMs = Math.min(target.scheduledForMs as number, atMs)
      if (isTaken(target, fromMs, target.plannedMinutes as number)) return false
      begin(target, atMs)
      return true
    },
    approve_extension(target, atMs) {
      if (!isOpen(target) || target.requestedMinutes === null) return false
      const minutes = extendedMinutes(target, target.requestedMinutes, atMs)
      if (isTaken(target, windowMs(target), minutes)) return false
      target.plannedMinutes = minutes
      target.requestedMinutes = null
      target.log.push('extension.approved')
      return true
    },
    decline_extension(target) {
      if (!isOpen(target) || target.requestedMinutes === null) return false
      target.requestedMinutes = null
      target.log.push('extension.declined')
      return true
    },
  }

  return {
    robots,
    sessions,
    plans,
    robotStatus,

    /** Each returns the HTTP status that the platform must answer. */
    start(who: Who, robot: number, atMs: number, scheduledForMs: number | null): number {
      if (who === 'admin') return 400 // must name an operator
      if (!isOperator(who)) return 403
      if (!mayStart(who, robot)) return 409
      const wanted = { robot, operator: who }
      if (scheduledForMs !== null && isTaken(wanted, scheduledForMs, DEFAULT_PLANNED_MINUTES)) return 409
      const target = add(who, robot, scheduledForMs)
      if (scheduledForMs === null) begin(target, atMs)
      else target.log.push('session.scheduled')
      return 201
    },
    performAction(who: Who, target: Session, action: Action, atMs: number): number {
      const refusal = refused(who, target, participants[action])
      if (refusal !== null) return refusal
      const done = steps[action](target, atMs, who)
      return typeof done === 'number' ? done : done ? 200 : 409
    },
    extend(who: Who, target: Session, minutes: number, atMs: number): number {
      const refusal = refused(who, target, ['client'])
      if (refusal) return refusal
      if (target.status !== 'ACTIVE' || target.requestedMinutes !== null) return 409
      if (isTaken(target, windowMs(target), extendedMinutes(target, minutes, atMs))) return 409
      target.requestedMinutes = minutes
      target.log.push('extension.requested')
      return 200
    },
    rate(who: Who, target: Session, rating: number): number {
      if (!isClient(who)) return 403
      const refusal = refused(who, target, ['client'])
      if (refusal) return refusal
      if (target.operator === target.client) return 403
      if (target.status !== 'COMPLETED' || target.rating !== null) return 409
      target.rating = rating
      target.log.push('session.rated')
      return 200
    },
    plan(who: Who, client: 'owner' | 'both', plan: Plan): number {
      if (who !== 'admin') return 403
      plans[client] = plan
      return 200
    },
    /** The robot's connection ends; `notified`: its gateway runs and notifies the session. */
    lose(robot: number, atMs: number, signMs: number, notified: boolean): void {
      const target = robots[robot] as Robot
      target.connected = false
      target.lastSignMs = Math.max(target.lastSignMs, signMs)
      const session = openOn(robot)
      if (notified && session) lose(session, atMs)
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
      for (const target of sessions.filter(isOpen)) {
        if (!robots[target.robot]?.connected) lose(target, atMs)
        if (target.lostAtMs !== null && target.lostAtMs < atMs - GRACE_MS) end(target, atMs, 'robot_lost')
      }
      const due = sessions
        .filter((target) => target.status === 'PENDING' && (target.scheduledForMs as number) <= atMs)
        .sort((a, b) => (b.scheduledForMs as number) - (a.scheduledForMs as number))
      for (const target of due) {
        if (openOn(target.robot)?.operator === target.operator) cancel(target, 'superseded')
      }
      for (const target of due.filter(({ status }) => status === 'PENDING')) {
        if (atMs - (target.scheduledForMs as number) >= START_WINDOW_MS) cancel(target, 'not_started')
        else if (mayStart(target.operator, target.robot)) begin(target, atMs)
      }
    },
  }
}
export type Model = ReturnType<typeof createModel>
