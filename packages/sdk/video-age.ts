import { frameText } from './frames.ts'

/** Binary control frames do not contain the age. Beside them, one frame with it is sent in this time. */
const REPORT_MS = 100
/** An older picture is reported with this age. */
const MAX_AGE_MS = 3_600_000

/**
 * Returns how old the picture is by which the operator drives, in milliseconds; null if that is unknown, which holds a robot with a
 * `video_limit_ms`; undefined if there is nothing to report, as for a robot without a camera.
 */
export type SampleVideoAge = () => number | null | undefined

/** Reads the age of the operator's picture for the frames of a link. */
export class VideoAge {
  readonly #sample: SampleVideoAge | undefined
  #reportedMs = Number.NEGATIVE_INFINITY

  /** @param sample undefined for a link that reports no age */
  constructor(sample: SampleVideoAge | undefined) {
    this.#sample = sample
  }

  /** Returns the fields of a control frame. Passes errors of the caller's function on. */
  fields(): { video_age_ms?: number | null } {
    const ageMs = this.#sample?.()
    if (ageMs === undefined) return {}
    if (ageMs === null || Number.isNaN(ageMs)) return { video_age_ms: null }
    return { video_age_ms: Math.round(Math.min(Math.max(ageMs, 0), MAX_AGE_MS)) }
  }

  /** Returns the frame to send before a binary control frame; null if none is due. */
  reportFrame(nowMs: number): string | null {
    if (this.#sample === undefined || nowMs - this.#reportedMs < REPORT_MS) return null
    const fields = this.fields()
    if (fields.video_age_ms === undefined) return null
    this.#reportedMs = nowMs
    return frameText({ type: 'video_age', ...fields })
  }

  /** Reports with the next binary control frame, which goes over another connection. */
  reset(): void {
    this.#reportedMs = Number.NEGATIVE_INFINITY
  }
}
