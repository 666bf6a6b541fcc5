import { MAX_FRAME_BYTES } from '@wheelhouse/protocol'

/** A union of frames, told apart by their `type`. */
interface FrameSchema<Frame> {
  readonly options: readonly { readonly shape: { readonly type: { readonly value: string } } }[]
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: Frame } | { readonly success: false; readonly error: unknown }
}

/**
 * Makes a reader of text frames. The reader answers null for a frame of an unknown type, which newer gateways may
 * send, and throws for text that is no frame or a known frame of the wrong shape.
 * @param rescue what to make of a known frame of the wrong shape instead, if anything
 */
export function createFrameReader<Frame>(
  schema: FrameSchema<Frame>,
  rescue?: (type: string) => Frame | undefined,
): (text: string) => Frame | null {
  const types: ReadonlySet<string> = new Set(schema.options.map((option) => option.shape.type.value))
  return (text) => {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value))
      throw new Error('a frame without type')
    if (typeof value.type !== 'string' || !types.has(value.type)) return null
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const rescued = rescue?.(value.type)
    if (rescued !== undefined) return rescued
    throw new Error(`malformed ${value.type} frame`, { cause: parsed.error })
  }
}

const encoder = new TextEncoder()

/**
 * A frame as text.
 * @throws RangeError if it is larger than the protocol allows, TypeError if it has no JSON form
 */
export function frameText(frame: { readonly type: string; readonly [field: string]: unknown }): string {
  const text = JSON.stringify(frame)
  // A character has at most three bytes, so that most frames need not be counted.
  const small = text.length * 3 <= MAX_FRAME_BYTES
  if (!small && encoder.encode(text).byteLength > MAX_FRAME_BYTES) throw tooLarge(frame.type)
  return text
}

/** The same frame. @throws RangeError if it is larger than the protocol allows */
export function checkBinarySize(frame: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (frame.byteLength > MAX_FRAME_BYTES) throw tooLarge('binary')
  return frame
}

function tooLarge(what: string): RangeError {
  return new RangeError(`${what} frame is too large`)
}
