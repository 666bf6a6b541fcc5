import type { Bus, BusTopic, BusTopics } from '../events/bus.ts'
import type { Log } from '../log.ts'
import { LONG_STEP_MS } from './thread-time.ts'

/** A handler that fails repeatedly is logged this often. Every failure is counted. */
const LOG_EVERY_MS = 1_000

type Work<Args extends unknown[]> = (...args: Args) => unknown

/** An event emitter: a socket, a server, a connection. Their types differ, their methods do not. */
interface Emitter<Args extends unknown[]> {
  on(event: string, listener: (...args: Args) => void): unknown
}

export interface GuardOptions {
  /** The role that registers the handlers. */
  readonly role: string
  readonly log: Log
  /** Counts an exception of a handler. */
  readonly count: (handler: string) => void
  /** Counts a handler that has held its thread for long. */
  readonly countLong?: (handler: string) => void
  /** Runs before every handler. Tests throw from it. */
  readonly before?: ((handler: string) => void) | undefined
}

/**
 * Creates a guard: exceptions of socket handlers, timers and subscribers do not end the process. Each handler is
 * registered by name. An exception or rejection is logged and counted, and `recover` closes the one connection safely.
 */
export function createGuard({ role, log, count, countLong, before }: GuardOptions) {
  const names = new Set<string>()
  const rounds = new Map<string, () => void>()
  const loggedMs = new Map<string, number>()

  function failed(name: string, cause: unknown): void {
    count(name)
    const nowMs = performance.now()
    if (nowMs - (loggedMs.get(name) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return
    loggedMs.set(name, nowMs)
    log.error({ err: cause, role, handler: name }, 'handler failed')
  }

  /** Counts and logs a handler that has held its thread for long. */
  function noteDuration(name: string, ms: number): void {
    if (ms < LONG_STEP_MS) return
    countLong?.(name)
    log.warn({ role, handler: name, ms: Math.round(ms) }, 'a handler held its thread')
  }

  function handle<Args extends unknown[]>(name: string, cause: unknown, args: Args, recover?: Work<Args>) {
    failed(name, cause)
    try {
      const recovery = recover?.(...args)
      if (recovery instanceof Promise) recovery.catch((recoveryError) => failed(name, recoveryError))
    } catch (recoveryError) {
      failed(name, recoveryError)
    }
  }

  /** Wraps a handler. `recover` receives the arguments of the call that failed. */
  function handler<Args extends unknown[]>(
    name: string,
    work: Work<Args>,
    recover?: Work<Args>,
  ): (...args: Args) => void {
    const run = untimed(name, work, recover)
    return (...args) => {
      const startedMs = performance.now()
      run(...args)
      noteDuration(name, performance.now() - startedMs)
    }
  }

  /** Wraps a handler that measures itself and calls `noteDuration`: one of the handlers of frames, of which there are most. */
  function untimed<Args extends unknown[]>(
    name: string,
    work: Work<Args>,
    recover?: Work<Args>,
  ): (...args: Args) => void {
    names.add(name)
    return (...args) => {
      try {
        before?.(name)
        const result = work(...args)
        if (result instanceof Promise) result.catch((cause) => handle(name, cause, args, recover))
      } catch (cause) {
        handle(name, cause, args, recover)
      }
    }
  }

  return {
    /** The handlers registered so far. */
    names: names as ReadonlySet<string>,

    handler,
    untimed,
    noteDuration,

    /** Logs and counts a failure that a handler has found, as if it had thrown it. */
    report: failed,

    /** Calls `work` every `ms`. */
    every(name: string, ms: number, work: () => unknown): NodeJS.Timeout {
      const round = handler(name, work)
      rounds.set(name, round)
      return setInterval(round, ms)
    },

    /** Runs the work of `every` now. Tests call it instead of waiting for a long interval. */
    runRound(name: string): void {
      const round = rounds.get(name)
      if (!round) throw new Error(`No interval has the name ${name}.`)
      round()
    },

    /** Returns a function that sets a timer for `work` at each call. */
    timer<Args extends unknown[]>(name: string, work: Work<Args>, recover?: Work<Args>) {
      const guarded = handler(name, work, recover)
      return (ms: number, ...args: Args): NodeJS.Timeout => setTimeout(guarded, ms, ...args)
    },

    /** Returns a function that calls `work` at the end of this turn of the event loop. */
    immediate(name: string, work: () => unknown): () => void {
      const guarded = handler(name, work)
      return () => void setImmediate(guarded)
    },

    /** Listens to an event of an emitter. */
    on<Args extends unknown[]>(
      emitter: Emitter<Args>,
      event: string,
      name: string,
      listener: Work<Args>,
      recover?: Work<Args>,
    ): void {
      emitter.on(event, handler(name, listener, recover))
    },

    /** Subscribes to a topic of the bus. Returns the function that unsubscribes. */
    subscribe: <T extends BusTopic>(bus: Bus, topic: T, listener: (message: BusTopics[T]) => unknown) =>
      bus.subscribe(topic, handler(`bus:${topic}`, listener)),
  }
}
export type Guard = ReturnType<typeof createGuard>
