import { isNestedTooDeep, MAX_FRAME_DEPTH } from '@wheelhouse/protocol'

/** A text frame as the protocol has it: a JSON object with a `type`. */
export type TextFrame = object & { readonly type: string }

/** What is wrong with a frame that is nested too deep. Its content, not its form: no connection is closed for it. */
export const TOO_DEEP = `A frame may be nested at most ${MAX_FRAME_DEPTH} levels deep`
const NO_FRAME = 'A frame must be a JSON object with a type'

/** Parses a text frame; returns what is wrong with it when it is none. */
export function parseFrame(text: string): TextFrame | string {
  if (isNestedTooDeep(text)) return TOO_DEEP
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value)) return NO_FRAME
    return typeof value.type === 'string' ? (value as TextFrame) : NO_FRAME
  } catch {
    return NO_FRAME
  }
}
