import { type Period, union } from '../../../modules/recordings/transport/index.ts'

/** Frames that were lost within this time are one gap. */
const SEPARATE_MS = 1_000
/** A gap that still grows is reported after this time: a process that ends unexpectedly does not report it any more. */
const LONGEST_MS = 10_000

/** The periods whose frames are lost on the way from a camera: each from the frame before the loss to the one after it. */
export class FrameLoss {
  readonly #report: (gap: Period) => void
  /** Up to when it is known what is lost; undefined before the first frame, with which a recording of the camera begins. */
  #lastMs: number | undefined
  #isLosing = false
  #gap: Period | undefined

  constructor(report: (gap: Period) => void) {
    this.#report = report
  }

  /** Notes that frames are lost up to the next one that is delivered. */
  lost(): void {
    this.#isLosing = true
  }

  /** Notes a complete frame, and when it arrived. */
  delivered(atMs: number): void {
    if (this.#isLosing) this.#extend(atMs)
    this.#isLosing = false
    this.#lastMs = atMs
  }

  /** Reports a gap that has ended, or lasts for long. Call it about twice a second. */
  tick(nowMs: number): void {
    if (this.#isLosing) this.#extend(nowMs)
    const gap = this.#gap
    if (gap && (nowMs - gap.toMs >= SEPARATE_MS || nowMs - gap.fromMs >= LONGEST_MS)) this.#end()
  }

  /** Reports what is lost until now. No frame follows. */
  close(nowMs: number): void {
    if (this.#isLosing) this.#extend(nowMs)
    this.#isLosing = false
    this.#end()
  }

  #extend(toMs: number): void {
    if (this.#lastMs === undefined) return
    const lost = { fromMs: this.#lastMs, toMs: Math.max(this.#lastMs, toMs) }
    if (this.#gap && lost.fromMs - this.#gap.toMs >= SEPARATE_MS) this.#end()
    this.#gap = union(this.#gap, lost)
    this.#lastMs = lost.toMs
  }

  #end(): void {
    const gap = this.#gap
    this.#gap = undefined
    if (gap) this.#report(gap)
  }
}
