import type { BinaryHeader } from '@wheelhouse/protocol'

/** A received sample: a JSON value, or bytes in a format of the robot. */
export type TelemetrySample = { readonly atMs: number } & (
  | { readonly data: unknown; readonly bytes?: undefined }
  | { readonly bytes: Uint8Array; readonly data?: undefined }
)

type TelemetryListener = (sample: TelemetrySample) => void
/** Subscribes a listener. Returns a function that unsubscribes. */
export type SubscribeTelemetry = (listener: TelemetryListener) => () => void

/**
 * Passes telemetry from a link to its listeners, outside of React state. Pass `handlers` to a link:
 * `new ObserverLink({ getTicket, ...feed.handlers })`.
 */
export interface TelemetryFeed {
  readonly subscribe: SubscribeTelemetry
  /** Returns when the newest sample arrived, by `performance.now()`, undefined before the first one. */
  lastMs(): number | undefined
  readonly handlers: {
    readonly onTelemetry: (data: unknown) => void
    readonly onBinaryTelemetry: (payload: Uint8Array, header: BinaryHeader) => void
  }
}

export function createTelemetryFeed(): TelemetryFeed {
  const listeners = new Set<TelemetryListener>()
  let newest: TelemetrySample | undefined
  const publish = (sample: TelemetrySample) => {
    newest = sample
    for (const listener of listeners) listener(sample)
  }
  return {
    lastMs: () => newest?.atMs,
    subscribe(listener) {
      listeners.add(listener)
      if (newest) listener(newest)
      return () => listeners.delete(listener)
    },
    handlers: {
      onTelemetry: (data) => publish({ atMs: performance.now(), data }),
      onBinaryTelemetry: (bytes) => publish({ atMs: performance.now(), bytes }),
    },
  }
}
