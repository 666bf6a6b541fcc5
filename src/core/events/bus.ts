import type { Lease, Role } from '@wheelhouse/protocol'
import type { Membership } from '../permissions/caller.ts'
import type { MediaReplyMessage, MediaRequestMessage } from './media-topics.ts'

/**
 * Messages between processes. Every topic but those of media and `session.tailed` is a hint: the database has the state, and
 * every listener also polls it, so a lost hint costs time and never an event.
 */
export interface BusTopics {
  /** The outbox contains new events. */
  'outbox.wake': Record<never, never>
  /** The event streams of users contain new events. */
  'events.stored': Record<never, never>
  /** Sessions, tokens or the existence of these robots changed. Gateways reload them. */
  'robots.changed': { robotIds: string[] }
  /**
   * A remote stop, on the fastest way to the gateway of the robot. Unlike other hints it may arrive before the database
   * has recorded the stop. The gateway then latches the stop, and records it unless the sender does.
   */
  'robot.stop': RobotStop
  /**
   * A user is about to take, return or revoke control of a robot, or does not any more. The gateway halts the robot at once if the user
   * may, before the database decides.
   */
  'control.changing': {
    sessionId: string
    begins: boolean
    userId: string
    /** What the user is in the organization for which it acts. The gateway compares it with the robot's. */
    organization: Membership
  }
  /** Control of a robot changed hands. */
  'control.transferred': { readonly sessionId: string } & Lease
  /** These queues contain new jobs that are due. */
  'jobs.created': { queues: string[] }
  /** These jobs were cancelled. Processes that run one look at their claim at once. */
  'jobs.cancelled': { jobIds: string[] }
  /** An API key was revoked. Hubs close its sockets. */
  'credential.revoked': { apiKeyId: string }
  /** A link of a recording was revoked. Downloads with it end. */
  'recording_link.revoked': { linkId: string }
  /**
   * A user lost permissions, or an admin suspended the user. Gateways and hubs read the changes and close outdated
   * connections; requests of a suspended user that wait for events end.
   */
  'permissions.lost': { userId: string; suspended: boolean }
  /**
   * Clients read this session live until the time, in Unix milliseconds. Gateways and media roles then send its data to
   * recorders, also when the session is not recorded. It is repeated while clients are connected.
   */
  'session.tailed': { sessionId: string; untilMs: number }
  /** A request to the media role of one process. A lost one is a timeout of the request. */
  'media.request': MediaRequestMessage
  'media.reply': MediaReplyMessage
}

/** A latched stop on its way to a gateway. */
export interface RobotStop {
  readonly sessionId: string
  readonly reason: string
  /** Sequence number in the session's log that latched the stop; null while the stop is not recorded. */
  readonly eventSeq: number | null
  /**
   * For a stop that is not recorded: whether its sender is recording it, or was refused (or had requested it before); otherwise the sender has given up, and the gateway
   * records it.
   */
  readonly sender?: 'recording' | 'refused'
  /** User who requested the stop; null when the platform did. */
  readonly userId: string | null
  /** Role of the first requester. While the stop is not recorded: `admin` for an admin, otherwise null. */
  readonly byRole: Role | null
  /** Whether the owner or an admin is among the requesters; false while it is not recorded. */
  readonly byOwner: boolean
  /** While the stop is not recorded: the organization whose robots, of all groups or of these, the user may stop. */
  readonly organization?: Pick<Membership, 'id' | 'groupIds'>
}

export type BusTopic = keyof BusTopics

export interface Bus {
  /** Sends to every listening process, including this one. Never throws and never blocks. */
  publish<T extends BusTopic>(topic: T, message: BusTopics[T]): void
  /** Calls the listener for every message of a topic. Returns the function that unsubscribes. */
  subscribe<T extends BusTopic>(topic: T, listener: (message: BusTopics[T]) => void): () => void
}

/** Creates the listeners of one process. Both kinds of bus deliver through them. */
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

/** Creates the bus of a platform that runs in one process. */
export function createMemoryBus(report: (cause: unknown) => void): Bus {
  const listeners = createListeners(report)
  return {
    publish: (topic, message) => queueMicrotask(() => listeners.deliver(topic, message)),
    subscribe: listeners.add,
  }
}
