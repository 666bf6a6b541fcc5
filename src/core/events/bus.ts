import type { Role } from '@wheelhouse/protocol'

/**
 * What processes tell each other in passing. Every topic is a hint: the truth is in the database, and whoever
 * listens also looks there from time to time, so a lost hint costs time, never a fact.
 */
export interface BusTopics {
  /** The outbox has something new. */
  'outbox.wake': Record<never, never>
  /** There are new events in the streams of users. */
  'events.stored': Record<never, never>
  /** Sessions, tokens or the existence of these robots changed; gateways look them up. */
  'robots.changed': { robotIds: string[] }
  /**
   * Somebody has stopped this robot: the fastest way to the gateway that holds it. Unlike the others it may come
   * before the database knows; then whoever is told of it holds the stop and has it recorded.
   */
  'robot.stop': RobotStop
  /** An API key stopped working; hubs close its sockets. */
  'credential.revoked': { apiKeyId: string }
}

/** A latched stop on its way to a gateway. */
export interface RobotStop {
  readonly robotId: string
  readonly sessionId: string
  readonly reason: string
  /** Number in the session's log from which on the stop is in force; null while it is not recorded. */
  readonly eventSeq: number | null
  /** Who requested it; null when the platform did. */
  readonly userId: string | null
  /** In which part the first requester did so; null while it is not recorded. */
  readonly byRole: Role | null
  /** Whether the owner or an admin is among the requesters; false while it is not recorded. */
  readonly byOwner: boolean
}

export type BusTopic = keyof BusTopics

export interface Bus {
  /** Tells every listening process, this one included. Never throws and never waits. */
  publish<T extends BusTopic>(topic: T, message: BusTopics[T]): void
  /** Calls back for every message of a topic; returns how to stop. */
  subscribe<T extends BusTopic>(topic: T, listener: (message: BusTopics[T]) => void): () => void
}

/** The listeners of one process; both kinds of bus deliver through it. */
export function createListeners(report: (cause: unknown) => void) {
  const byTopic = new Map<BusTopic, Set<(message: never) => void>>()
  return {
    add<T extends BusTopic>(topic: T, listener: (message: BusTopics[T]) => void): () => void {
      const known = byTopic.get(topic) ?? new Set()
      byTopic.set(topic, known.add(listener))
      return () => known.delete(listener)
    },
    deliver<T extends BusTopic>(topic: T, message: BusTopics[T]): void {
      for (const listener of byTopic.get(topic) ?? []) {
        try {
          listener(message as never)
        } catch (cause) {
          report(cause)
        }
      }
    },
  }
}

/** The bus of a platform that runs in one process. */
export function createMemoryBus(report: (cause: unknown) => void): Bus {
  const listeners = createListeners(report)
  return {
    publish: (topic, message) => queueMicrotask(() => listeners.deliver(topic, message)),
    subscribe: listeners.add,
  }
}
