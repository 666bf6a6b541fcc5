import type { NumberSlot } from './features.ts'

/** The content of a message for a slot: its number, that it lacks the field, or that the value is no finite number. */
export const MISSING = undefined
export const INVALID = null
export type SlotValue = number | typeof MISSING | typeof INVALID

/** Returns a number that is finite as a 32-bit float, which is what datasets store. */
function finite(value: number): SlotValue {
  const rounded = Math.fround(value)
  return Number.isFinite(rounded) ? rounded : INVALID
}

/** Reads the value of a slot from the data of a message. */
export function readSlot(data: unknown, { path, kind, choices }: NumberSlot): SlotValue {
  let value = data
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return MISSING
    if (Array.isArray(value) !== (typeof name === 'number') || !Object.hasOwn(value, name)) return MISSING
    value = (value as Record<string | number, unknown>)[name]
  }
  if (typeof value === 'number') return kind === 'choice' ? INVALID : finite(value)
  if (kind === 'boolean' && typeof value === 'boolean') return value ? 1 : 0
  if (kind === 'choice' && typeof value === 'string') {
    const index = choices.indexOf(value)
    return index === -1 ? INVALID : index
  }
  return INVALID
}

/** The content of a message of `/control`, `/control/dropped` or `/telemetry`. */
export interface MessageContent {
  readonly data: unknown
  /** When the pictures that the operator saw were captured, in Unix milliseconds, by their cameras. */
  readonly seen?: unknown
  /** Of a command: the epoch of the control lease. */
  readonly epoch?: unknown
  /** Whether it is a command of a policy that did not hold control. */
  readonly isOfPolicy?: boolean
}

/** Reads a message of `/control`, `/control/dropped` or `/telemetry`. Returns undefined for binary data and for damaged messages. */
export function messageContent(bytes: Uint8Array): MessageContent | undefined {
  let message: unknown
  try {
    message = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  } catch {
    return undefined
  }
  if (typeof message !== 'object' || message === null || !('data' in message)) return undefined
  return {
    data: message.data,
    ...('seen' in message && { seen: message.seen }),
    ...('epoch' in message && { epoch: message.epoch }),
    ...('policy_id' in message && { isOfPolicy: true }),
  }
}
