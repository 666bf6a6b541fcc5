import { isNestedTooDeep, MAX_FRAME_DEPTH } from '@wheelhouse/protocol'

/** A text frame of the protocol: a JSON object with a `type`. */
export type TextFrame = object & { readonly type: string }

/** The error of a frame that is nested too deep. It concerns the content, so it closes no connection by itself. */
export const TOO_DEEP = `A frame may be nested at most ${MAX_FRAME_DEPTH} levels deep`
/** The error of telemetry that is no JSON. It may be the content as well: many programs write NaN. */
export const NO_JSON_TELEMETRY =
  'The telemetry is not valid JSON. NaN and Infinity are not: send null, or leave them out.'
const TELEMETRY_START = /^\s*\{\s*"type"\s*:\s*"telemetry"/
const NO_FRAME = 'A frame must be a JSON object with a string `type`'

/** Parses a text frame; returns an error message if it is malformed. */
export function parseFrame(text: string): TextFrame | string {
  if (isNestedTooDeep(text)) return TOO_DEEP
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value)) return NO_FRAME
    return typeof value.type === 'string' ? (value as TextFrame) : NO_FRAME
  } catch {
    return TELEMETRY_START.test(text) ? NO_JSON_TELEMETRY : NO_FRAME
  }
}
