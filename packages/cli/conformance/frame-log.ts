import { isValueNestedTooDeep, MAX_FRAME_BYTES } from '@wheelhouse/protocol'
import type { z } from 'zod'

/** A frame that a program has sent, as it arrived at the socket. */
export interface ReceivedFrame {
  readonly atMs: number
  readonly type: string
  /** The fields. Those of a large frame are dropped once it has been looked at. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Frames that are kept of one connection; of more than that, the newest. */
const MAX_KEPT_FRAMES = 4_000
/** The fields of a larger frame are not kept: only telemetry is large, and its motion has been read. */
const MAX_KEPT_BYTES = 1_024
/** Frames and bytes that a robot may send in a second; see docs/protocol-robot.md. */
const MAX_FRAMES_PER_SECOND = 1_000
const MAX_BYTES_PER_SECOND = 1024 * 1024
/** Smaller frames do not count towards the bytes in a second. */
const SMALL_FRAME_BYTES = 4 * 1024
const NOT_A_NUMBER = /[:[,]\s*(-?NaN|-?Infinity)\b/
/** Longest part of a malformed frame that a report shows. */
const MAX_SHOWN_CHARACTERS = 80

interface FrameSchema {
  safeParse(value: unknown): z.ZodSafeParseResult<unknown>
}

/** What is wrong with the frames of a program, over all of its connections. The first of each kind is described. */
export interface Defects {
  frames: number
  largestBytes: number
  framesPerSecond: number
  bytesPerSecond: number
  malformed: string | undefined
  notFinite: string | undefined
}

export const noDefects = (): Defects => ({
  frames: 0,
  largestBytes: 0,
  framesPerSecond: 0,
  bytesPerSecond: 0,
  malformed: undefined,
  notFinite: undefined,
})

/** Reads the frames of one connection, keeps the newest, and notes the defects of all. */
export class FrameLog {
  /** The newest text frames, oldest first. */
  readonly frames: ReceivedFrame[] = []
  readonly #defects: Defects
  readonly #schema: FrameSchema
  readonly #types: ReadonlySet<string>
  #second = { startMs: Number.NEGATIVE_INFINITY, frames: 0, bytes: 0 }

  constructor(defects: Defects, schema: FrameSchema, types: ReadonlySet<string>) {
    this.#defects = defects
    this.#schema = schema
    this.#types = types
  }

  /** Returns the frames of a type that arrived after a time, oldest first. */
  of(type: string, sinceMs = Number.NEGATIVE_INFINITY): ReceivedFrame[] {
    return this.frames.filter((frame) => frame.type === type && frame.atMs >= sinceMs)
  }

  /** Reads one message. @returns the frame; undefined for a binary one, and for text that is no frame */
  read(message: Buffer, isBinary: boolean, atMs: number): ReceivedFrame | undefined {
    this.#count(message.byteLength, atMs)
    if (isBinary) return undefined
    const text = message.toString()
    const fields = parseFrame(text)
    if (fields === undefined) {
      const shown = text.slice(0, MAX_SHOWN_CHARACTERS)
      if (NOT_A_NUMBER.test(text)) this.#defects.notFinite ??= shown
      else this.#defects.malformed ??= `no JSON object with a type: ${shown}`
      return undefined
    }
    if (hasInfinity(fields)) this.#defects.notFinite ??= text.slice(0, MAX_SHOWN_CHARACTERS)
    if (isValueNestedTooDeep(fields)) this.#defects.malformed ??= `${fields.type} is nested too deep`
    const parsed = this.#types.has(fields.type) ? this.#schema.safeParse(fields) : undefined
    if (parsed?.success === false) {
      const [issue] = parsed.error.issues
      this.#defects.malformed ??= `${fields.type}: ${issue?.path.join('.')} ${issue?.message}`
    }
    const frame = { atMs, type: fields.type, fields }
    const kept = message.byteLength > MAX_KEPT_BYTES ? { ...frame, fields: {} } : frame
    this.frames.push(kept)
    if (this.frames.length > MAX_KEPT_FRAMES) this.frames.splice(0, MAX_KEPT_FRAMES / 4)
    return frame
  }

  #count(bytes: number, atMs: number): void {
    const defects = this.#defects
    if (atMs - this.#second.startMs >= 1_000) this.#second = { startMs: atMs, frames: 0, bytes: 0 }
    this.#second.frames += 1
    if (bytes > SMALL_FRAME_BYTES) this.#second.bytes += bytes
    defects.frames += 1
    defects.largestBytes = Math.max(defects.largestBytes, bytes)
    defects.framesPerSecond = Math.max(defects.framesPerSecond, this.#second.frames)
    defects.bytesPerSecond = Math.max(defects.bytesPerSecond, this.#second.bytes)
  }
}

/** Returns whether frames were too large, or too many. */
export const isTooMuch = ({ largestBytes, framesPerSecond, bytesPerSecond }: Defects) =>
  largestBytes > MAX_FRAME_BYTES ||
  framesPerSecond > MAX_FRAMES_PER_SECOND ||
  bytesPerSecond > MAX_BYTES_PER_SECOND

function parseFrame(text: string): (Record<string, unknown> & { type: string }) | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value)) return undefined
    return typeof value.type === 'string' ? { ...value, type: value.type } : undefined
  } catch {
    return undefined
  }
}

/** JSON text such as 1e999 is parsed as infinity. */
function hasInfinity(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (typeof value !== 'object' || value === null || depth > 64) return false
  return Object.values(value).some((entry) => hasInfinity(entry, depth + 1))
}
