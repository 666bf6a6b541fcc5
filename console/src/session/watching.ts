import type { DriveLatency, DriveState } from '@wheelhouse/protocol'
import { type GetTicket, WatcherLink } from '@wheelhouse/sdk'
import { createTelemetryFeed, type SubscribeTelemetry } from '../telemetry/feed.ts'
import { createStore, type Store } from '../ui/store.ts'

/** What the gateway says of the robot and of this page's connection to it. */
export interface WatchState {
  /** `ended`: for good, for `problem`; see `Watching.renew`. */
  readonly connection: 'connecting' | 'online' | 'offline' | 'ended'
  /** As last heard: it is of now only while the connection is online. */
  readonly drive: DriveState | undefined
  /** The round trips between the gateway and either side of the driving, as it last told them. */
  readonly driving: DriveLatency | undefined
  /** From this page to the gateway and back, in milliseconds. */
  readonly roundTripMs: number | undefined
  readonly problem: string | undefined
}

/** A connection to the robot of a session, to look on and to stop it. */
export interface Watching {
  readonly state: Store<WatchState>
  /** What the robot sends, outside of React. */
  readonly subscribe: SubscribeTelemetry
  /** Stops the robot, again over new connections until it is recorded. Rejects when the connection ends for good. */
  stop(reason?: string): Promise<void>
  /** Forgets a stop that was recorded on another way while there was no connection: it may be cleared by now. */
  forgetStop(): void
  /** Connects anew, also after an end. */
  renew(): void
  close(): void
}

const nothing: WatchState = {
  connection: 'connecting',
  drive: undefined,
  driving: undefined,
  roundTripMs: undefined,
  problem: undefined,
}

export function createWatching(getTicket: GetTicket): Watching {
  const state = createStore(nothing)
  const telemetry = createTelemetryFeed()
  let link = dial()

  function dial(): WatcherLink {
    const isCurrent = () => link === made
    const change = (next: Partial<WatchState>) => {
      if (isCurrent()) state.update((old) => ({ ...old, ...next }))
    }
    const made = new WatcherLink({
      ...telemetry.handlers,
      getTicket,
      onConnection: (connection) => change({ connection }),
      onState: (drive) => change({ drive }),
      onLatency: (driving) => change({ driving, roundTripMs: made.latency?.roundTripMs }),
      onClosed: ({ reason }) => change({ connection: 'ended', problem: reason }),
      onError: (cause) => console.warn('watching:', cause),
    })
    // After `link` was set, so that the first change counts. A failure is told to `onClosed`.
    queueMicrotask(() => made.connect().catch(() => {}))
    return made
  }

  const hangUp = () => void link.close()
  const renew = () => {
    hangUp()
    state.set({ ...nothing, drive: state.get().drive })
    link = dial()
  }
  return {
    state,
    subscribe: telemetry.subscribe,
    renew,
    close: hangUp,
    stop: (reason) => link.stop(reason),
    forgetStop() {
      if (link.stopPending && link.connection !== 'online') renew()
    },
  }
}
