import { MAX_FRAME_BYTES } from '@wheelhouse/protocol'

/** Schema of a union of frames, discriminated by `type`. */
interface FrameSchema<Frame> {
  readonly options: readonly { readonly shape: { readonly type: { readonly value: string } } }[]
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: Frame } | { readonly success: false; readonly error: unknown }
}

/**
 * Creates a reader of text frames. The reader returns null for a frame of an unknown type, which newer gateways may
 * send. It throws for text that is not a frame and for a malformed frame of a known type.
 * @param rescue returns a replacement for a malformed frame of a known type, if any
 */
export function createFrameReader<Frame>(
  schema: FrameSchema<Frame>,
  rescue?: (type: string) => Frame | undefined,
): (text: string) => Frame | null {
  const types: ReadonlySet<string> = new Set(schema.options.map((option) => option.shape.type.value))
  return (text) => {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value))
      throw new Error('the frame has no type')
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
 * Returns a frame as text.
 * @throws RangeError if it is larger than the protocol allows, TypeError if JSON cannot represent it
 */
export function frameText(frame: { readonly type: string; readonly [field: string]: unknown }): string {
  const text = JSON.stringify(frame)
  // A UTF-16 code unit has at most three bytes in UTF-8, so most frames need no exact count.
  const small = text.length * 3 <= MAX_FRAME_BYTES
  if (!small && encoder.encode(text).byteLength > MAX_FRAME_BYTES) throw tooLarge(frame.type)
  return text
}

/** Returns the frame unchanged. @throws RangeError if it is larger than the protocol allows */
export function checkBinarySize(frame: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (frame.byteLength > MAX_FRAME_BYTES) throw tooLarge('binary')
  return frame
}

function tooLarge(type: string): RangeError {
  return new RangeError(`the ${type} frame is larger than ${MAX_FRAME_BYTES} bytes`)
}
