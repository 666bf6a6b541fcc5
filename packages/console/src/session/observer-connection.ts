import type {
  Autonomy,
  DriveBattery,
  DriveLatency,
  DriveLog,
  DriveState,
  SpeedLimits,
} from '@wheelhouse/protocol'
import {
  ApiError,
  answerOf,
  type GetTicket,
  ObserverLink,
  type RestClient,
  TicketRefusedError,
} from '@wheelhouse/sdk'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { createStore } from '../base/store.ts'
import { linkAgesOf, PING_MS } from '../freshness/freshness.ts'
import { usePlatform } from '../platform/platform.ts'
import { createTelemetryFeed } from '../telemetry/feed.ts'

export type ObserverState = Readonly<typeof initialState>

/** An observer's connection to the robot of a session, which can also stop the robot. */
export type ObserverConnection = ReturnType<typeof createObserverConnection>

const initialState = {
  /** `ended`: the client does not retry; `problem` says why. See `ObserverConnection.reconnect`. */
  connection: 'connecting' as 'connecting' | 'online' | 'offline' | 'ended',
  /** The last known state. Current only while the connection is online. */
  drive: undefined as DriveState | undefined,
  /** The last round trips of operator and robot to the gateway. */
  driveLatency: undefined as DriveLatency | undefined,
  /** The speed that the latency allows; undefined for a robot without a latency budget. */
  limits: undefined as SpeedLimits | undefined,
  /** Round trip between this page and the gateway, in milliseconds. */
  roundTripMs: undefined as number | undefined,
  battery: undefined as DriveBattery | undefined,
  /** What the robot does by itself; null while it does not say. */
  autonomy: null as Autonomy | null,
  /** Log lines since the page connected, newest first. Older lines are dropped. */
  logs: [] as readonly (Pick<DriveLog, 'level' | 'message' | 'at'> & { readonly number: number })[],
  problem: undefined as string | undefined,
}

const MAX_LOGS = 100

function createObserverConnection(getTicket: GetTicket) {
  const state = createStore<ObserverState>(initialState)
  const telemetry = createTelemetryFeed()
  let link = openLink()
  const ages = linkAgesOf({ telemetry, silentMs: () => link.silentMs })

  function openLink(): ObserverLink {
    const isCurrent = () => link === newLink
    const change = (next: Partial<ObserverState>) => {
      if (isCurrent()) state.update((old) => ({ ...old, ...next }))
    }
    const newLink = new ObserverLink({
      ...telemetry.handlers,
      getTicket,
      pingMs: PING_MS,
      onConnection: (connection) => change({ connection }),
      onState: (drive) => change({ drive, autonomy: newLink.autonomy }), // unknown from a loss of the robot on
      onAutonomy: (autonomy) => change({ autonomy }),
      onBattery: (battery) => change({ battery }),
      onLimits: (limits) => change({ limits }),
      onLog: ({ level, message, at }) => {
        const { logs } = state.get()
        const number = (logs[0]?.number ?? 0) + 1
        change({ logs: [{ level, message, at, number }, ...logs.slice(0, MAX_LOGS - 1)] })
      },
      onLatency: (driveLatency) => change({ driveLatency, roundTripMs: newLink.latency?.roundTripMs }),
      onClosed: ({ reason }) => change({ connection: 'ended', problem: reason }),
      onError: (cause) => console.warn('gateway:', cause),
    })
    // Connects after `link` is set, so that `isCurrent` holds for the first change. `onClosed` reports failures.
    queueMicrotask(() => newLink.connect().catch(() => {}))
    return newLink
  }

  const closeLink = () => void link.close()
  /** Opens a new connection, even after `ended`. */
  const reconnect = () => {
    closeLink()
    const { drive, battery, logs } = state.get()
    state.set({ ...initialState, drive, battery, logs })
    link = openLink()
  }
  return {
    state,
    subscribe: telemetry.subscribe,
    ages,
    reconnect,
    close: closeLink,
    /** Stops the robot. Resends the stop over new connections until it is recorded. Rejects when the client gives up. */
    stop: (reason?: string) => link.stop(reason),
    /** Drops a stop that was recorded over another route during an outage, because it may be cleared by now. */
    forgetStop(): void {
      if (link.stopPending && link.connection !== 'online') reconnect()
    },
  }
}

/** Connects to the robot of an open session while the component is mounted. */
export function useObserverConnection(sessionId: string, open: boolean): ObserverConnection | undefined {
  const { rest } = usePlatform()
  const [observerConnection, setObserverConnection] = useState<ObserverConnection>()
  useEffect(() => {
    if (!open) return
    const opened = createObserverConnection(ticketsFor(rest, sessionId, 'watch'))
    setObserverConnection(opened)
    return () => {
      setObserverConnection(undefined)
      opened.close()
    }
  }, [rest, sessionId, open])
  return observerConnection
}

const noSubscription = () => () => undefined

export const useObserverState = (
  observerConnection: ObserverConnection | undefined,
): ObserverState | undefined =>
  useSyncExternalStore(observerConnection?.state.subscribe ?? noSubscription, () =>
    observerConnection?.state.get(),
  )

/** Statuses that a retry does not change. A conflict (409) is temporary: the robot is offline or the session is ending. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404])

/** Returns a function that requests tickets for one part of a session. */
export const ticketsFor =
  (rest: RestClient, sessionId: string, part: 'control' | 'watch'): GetTicket =>
  async () => {
    try {
      const path = { id: sessionId }
      return await answerOf(rest.POST('/api/sessions/{id}/ticket', { params: { path }, body: { part } }))
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status === 0) throw cause
      const { status, message, retryAfterS = 0 } = cause
      throw new TicketRefusedError(status, message, {
        final: FINAL.has(status),
        retryAfterMs: retryAfterS * 1_000,
      })
    }
  }
