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
export function createTelemetryFeed() {
  const listeners = new Set<TelemetryListener>()
  let newest: TelemetrySample | undefined
  const cadence = createCadence()
  const publish = (sample: TelemetrySample) => {
    if (newest) cadence.add(sample.atMs - newest.atMs)
    newest = sample
    for (const listener of listeners) listener(sample)
  }
  return {
    /** Returns when the newest sample arrived, by `performance.now()`, undefined before the first one. */
    lastMs: () => newest?.atMs,
    /**
     * Returns how old the newest sample is, undefined before the first one. A robot that sends samples rarely is not late: it
     * counts from when its next sample was due.
     */
    ageMs: () => newest && Math.max(0, performance.now() - newest.atMs - cadence.rareMs()),
    subscribe(listener: TelemetryListener): () => void {
      listeners.add(listener)
      if (newest) listener(newest)
      return () => void listeners.delete(listener)
    },
    handlers: {
      onTelemetry: (data: unknown) => publish({ atMs: performance.now(), data }),
      onBinaryTelemetry: (bytes: Uint8Array) => publish({ atMs: performance.now(), bytes }),
    },
  }
}

/**
 * Draws the newest sample before every picture of the display, outside of React.
 * @param add receives every sample
 * @returns a function that stops it
 */
export function drawNewest(
  subscribe: SubscribeTelemetry,
  draw: (newest: TelemetrySample | undefined, frameMs: number) => void,
  add?: TelemetryListener,
): () => void {
  let newest: TelemetrySample | undefined
  const unsubscribe = subscribe((sample) => {
    newest = sample
    add?.(sample)
  })
  function next(frameMs: number): void {
    frame = requestAnimationFrame(next)
    draw(newest, frameMs)
  }
  let frame = requestAnimationFrame(next)
  return () => {
    cancelAnimationFrame(frame)
    unsubscribe()
  }
}

/** For a robot that sends more often, every longer gap is a delay. */
const RARE_MS = 300
/** A gap that is longer than the others is a delay, so that the shortest of these counts. */
const GAPS = 3

/** Measures how often samples arrive. */
function createCadence() {
  const gapsMs: number[] = []
  return {
    add(gapMs: number): void {
      gapsMs.push(gapMs)
      if (gapsMs.length > GAPS) gapsMs.shift()
    },
    /** Returns the time between two samples of a robot that sends them rarely, otherwise 0. */
    rareMs(): number {
      const shortestMs = gapsMs.length < GAPS ? 0 : Math.min(...gapsMs)
      return shortestMs > RARE_MS ? shortestMs : 0
    },
  }
}
