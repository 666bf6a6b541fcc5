import { MAX_FRAME_DEPTH, MAX_TTL_MS } from '@wheelhouse/protocol'
import { endOfJson } from './json-scan.ts'

/** The beginning of a control frame with its fields in the documented order, with or without a space between them. */
const HEADER =
  /\{"type": ?"control", ?"seq": ?(0|[1-9]\d{0,15}), ?"t": ?(-?(?:0|[1-9]\d{0,15})(?:\.\d{1,20})?), ?(?:"ttl_ms": ?([1-9]\d{0,4}), ?)?(?:"video_age_ms": ?(null|(?:0|[1-9]\d{0,8})(?:\.\d{1,20})?), ?)?"data": ?/y
const CLOSE_OBJECT = 125

/** A control frame whose data is still text. */
export interface PlainControl {
  readonly seq: number
  readonly t: number
  readonly ttlMs: number | undefined
  /** Null for a picture of unknown age; undefined without a report. */
  readonly videoAgeMs: number | null | undefined
  /** One JSON value. */
  readonly data: string
}

/**
 * Reads a control frame without parsing its data, because there are hundreds of them in a second. Returns undefined for every other
 * frame, also for a control frame in another form and for a malformed one: the schema decides over those.
 */
export function readPlainControl(text: string): PlainControl | undefined {
  HEADER.lastIndex = 0
  const header = HEADER.exec(text)
  if (header === null) return undefined
  const [prefix, seqText, tText, ttlText, videoAgeText] = header
  const seq = Number(seqText)
  const ttlMs = ttlText === undefined ? undefined : Number(ttlText)
  if (!Number.isSafeInteger(seq) || (ttlMs !== undefined && ttlMs > MAX_TTL_MS)) return undefined
  const end = text.length - 1
  const isWhole =
    text.charCodeAt(end) === CLOSE_OBJECT && endOfJson(text, prefix.length, MAX_FRAME_DEPTH - 1) === end
  if (!isWhole) return undefined
  const videoAgeMs = videoAgeText === undefined ? undefined : readAge(videoAgeText)
  return { seq, t: Number(tText), ttlMs, videoAgeMs, data: text.slice(prefix.length, end) }
}

const readAge = (text: string): number | null => (text === 'null' ? null : Number(text))
