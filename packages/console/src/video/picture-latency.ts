/** A frame that is captured later than this after its display has a wrong capture time. */
const MAX_CLOCK_ERROR_MS = 50

/**
 * Creates the measurement of the time from the capture of a frame to its display. A frame that seems to be captured after its
 * display shows by how much at least the clocks differ: later times are longer by that.
 */
export function createPictureLatency() {
  let clockErrorMs = 0
  let latencyMs: number | undefined
  return {
    /** The latency of the newest frame; undefined if its capture time is unknown or wrong. */
    get ms(): number | undefined {
      return latencyMs
    },

    /** Notes a frame. Both times are of the browser's clock. */
    frame(displayMs: number, captureMs: number | undefined): void {
      const ms = captureMs === undefined ? Number.NaN : displayMs - captureMs
      if (ms < 0 && ms > -MAX_CLOCK_ERROR_MS) clockErrorMs = Math.max(clockErrorMs, -ms)
      latencyMs = ms > -MAX_CLOCK_ERROR_MS ? ms + clockErrorMs : undefined
    },
  }
}
