import type { DecodedFrame, FrameDecoder } from './frame-decoder.ts'

/** One playing through the frames of a camera, from a keyframe on. */
export interface Run {
  readonly abort: AbortController
  readonly fromMs: number
  readonly startedMs: number
  decoder: FrameDecoder | undefined
  /** Time of the newest frame that was read. Everything before it is decoded or being decoded. */
  headMs: number
  /** Whether the picture of `fromMs` is still to come. */
  isSeeking: boolean
  hasEnded: boolean
  /** When the decoder last got or returned a frame, by `performance.now()`. */
  activeMs: number
}

/** Returns a run that plays from a time on. */
export function beginRun(fromMs: number): Run {
  const nowMs = performance.now()
  return {
    abort: new AbortController(),
    fromMs,
    startedMs: nowMs,
    decoder: undefined,
    headMs: Number.NEGATIVE_INFINITY,
    isSeeking: true,
    hasEnded: false,
    activeMs: nowMs,
  }
}

/** Draws a picture in its size on a canvas, or clears it. */
export function drawFrame(canvas: HTMLCanvasElement, frame: DecodedFrame | undefined): void {
  const context = canvas.getContext('2d')
  if (!context) return
  if (!frame) return context.clearRect(0, 0, canvas.width, canvas.height)
  if (canvas.width !== frame.width) canvas.width = frame.width
  if (canvas.height !== frame.height) canvas.height = frame.height
  context.drawImage(frame.picture, 0, 0)
}
