import { isKeyframe } from './access-unit.ts'
import { decodeFrame, type FrameSchema } from './compressed-frame.ts'
import type { RecordingSource } from './recording-source.ts'

/** Known keyframes of a camera: a list of numbers, so that much is possible. */
const MAX_KNOWN = 20_000
/** A keyframe that is known is used when the camera sends one at least this often. */
const USABLE_MS = 2_500

/** Finds the frames of a camera that a decoder can begin with, and remembers them. */
export function createKeyframeFinder(source: RecordingSource, topic: string, schema: FrameSchema) {
  const known: number[] = []
  const isStart = (data: Uint8Array) => {
    const frame = decodeFrame(schema, data)
    return isKeyframe(frame.format, frame.data)
  }

  return {
    /** Notes a keyframe that was played. */
    add(atMs: number): void {
      const index = lowerBound(known, atMs)
      if (known[index] === atMs) return
      known.splice(index, 0, atMs)
      if (known.length > MAX_KNOWN) known.splice(0, known.length - MAX_KNOWN)
    },

    /** Returns the time of the last keyframe up to a time; undefined without one. */
    async before(atMs: number, signal: AbortSignal): Promise<number | undefined> {
      const at = lowerBound(known, atMs)
      const near = known[at] === atMs ? atMs : known[at - 1]
      if (near !== undefined && atMs - near < USABLE_MS) return near
      for await (const message of source.messages({
        topics: [topic],
        fromMs: 0,
        toMs: atMs,
        reverse: true,
      })) {
        if (signal.aborted) return undefined
        if (message.atMs === near || isStart(message.data)) {
          this.add(message.atMs)
          return message.atMs
        }
      }
      return undefined
    },
  }
}

function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}
