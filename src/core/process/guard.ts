import type { Bus, BusTopic, BusTopics } from '../events/bus.ts'
import type { Log } from '../log.ts'

/** One handler that fails again and again is logged this often; every failure is counted. */
const LOG_EVERY_MS = 1_000

type Work<Args extends unknown[]> = (...args: Args) => unknown

/** Anything that calls listeners: sockets, servers, connections. Event emitters differ in their types only. */
interface Emitter<Args extends unknown[]> {
  on(event: string, listener: (...args: Args) => void): unknown
}

export interface GuardOptions {
  /** Whose handlers these are. */
  readonly role: string
  readonly log: Log
  /** Counts an exception of a handler. */
  readonly count: (handler: string) => void
  /** Called before every handler, for tests, which throw from it. */
  readonly before?: ((handler: string) => void) | undefined
}

/**
 * Keeps exceptions of socket handlers, timers and subscribers from ending the process. Each handler is registered by
 * name; what it throws, or rejects with, is logged and counted, and `recover` brings the one connection to a safe end.
 */
export function createGuard({ role, log, count, before }: GuardOptions) {
  const names = new Set<string>()
  const loggedMs = new Map<string, number>()

  function failed(name: string, cause: unknown): void {
    count(name)
    const nowMs = performance.now()
    if (nowMs - (loggedMs.get(name) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return
    loggedMs.set(name, nowMs)
    log.error({ err: cause, role, handler: name }, 'handler failed')
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

  /** Wraps a handler; `recover` gets the arguments of the call that failed. */
  function handler<Args extends unknown[]>(
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

    /** Calls `work` every `ms`. */
    every: (name: string, ms: number, work: () => unknown): NodeJS.Timeout =>
      setInterval(handler(name, work), ms),

    /** Returns what sets a timer for `work`, once for each call. */
    timer<Args extends unknown[]>(name: string, work: Work<Args>, recover?: Work<Args>) {
      const guarded = handler(name, work, recover)
      return (ms: number, ...args: Args): NodeJS.Timeout => setTimeout(guarded, ms, ...args)
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

    /** Listens to a topic of the bus; returns how to stop. */
    subscribe: <T extends BusTopic>(bus: Bus, topic: T, listener: (message: BusTopics[T]) => unknown) =>
      bus.subscribe(topic, handler(`bus:${topic}`, listener)),
  }
}
export type Guard = ReturnType<typeof createGuard>
