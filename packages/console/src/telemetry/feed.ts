import type { BinaryHeader } from '@wheelhouse/protocol'

/** A sample as it came: a JSON value, or bytes that only the robot's makers know. */
export type TelemetrySample = { readonly atMs: number } & (
  | { readonly data: unknown; readonly bytes?: undefined }
  | { readonly bytes: Uint8Array; readonly data?: undefined }
)

export type TelemetryListener = (sample: TelemetrySample) => void
/** Begins to listen; call what it returns to end. */
export type SubscribeTelemetry = (listener: TelemetryListener) => () => void

/**
 * Telemetry on its way from a link to whoever shows it, outside of React's state. Hand `handlers` to a link:
 * `new WatcherLink({ getTicket, ...feed.handlers })`.
 */
export interface TelemetryFeed {
  readonly subscribe: SubscribeTelemetry
  /** When the newest sample came, by `performance.now()`; undefined before the first. */
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
