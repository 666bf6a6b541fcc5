import { z } from 'zod'

/** The bridge echoes names and ids of clients, so it limits their length. */
const name = z.string().min(1).max(256)
const id = z.union([z.string().max(256), z.number()]).optional()

const Advertise = z.looseObject({ op: z.literal('advertise'), id, topic: name, type: name })
const Unadvertise = z.looseObject({ op: z.literal('unadvertise'), id, topic: name })
const Publish = z.looseObject({ op: z.literal('publish'), id, topic: name, msg: z.unknown() })
const Subscribe = z.looseObject({
  op: z.literal('subscribe'),
  id,
  topic: name,
  type: name.optional(),
  /** Shortest interval between two messages, in milliseconds. */
  throttle_rate: z.number().min(0).max(3_600_000).optional(),
  queue_length: z.number().int().min(0).optional(),
  fragment_size: z.number().nullish(),
  compression: z.string().max(64).optional(),
})
const Unsubscribe = z.looseObject({ op: z.literal('unsubscribe'), id, topic: name })
const CallService = z.looseObject({ op: z.literal('call_service'), id, service: name })
/** Sets the lowest level of `status` frames for the sender. */
const SetLevel = z.looseObject({
  op: z.literal('set_level'),
  id,
  level: z.enum(['info', 'warning', 'error', 'none']),
})
const Status = z.looseObject({ op: z.literal('status'), id, level: z.string(), msg: z.string() })

/** Supported frames from a client to a rosbridge server. */
export const ClientOp = z.discriminatedUnion('op', [
  Advertise,
  Unadvertise,
  Publish,
  Subscribe,
  Unsubscribe,
  CallService,
  SetLevel,
])
export type ClientOp = z.infer<typeof ClientOp>
export type SubscribeOp = z.infer<typeof Subscribe>
/** Supported frames from a rosbridge server to a client. */
export const ServerOp = z.discriminatedUnion('op', [Publish, Status])
export type ServerOp = z.infer<typeof ServerOp>

export type OpId = z.infer<typeof id>
export type StatusLevel = 'info' | 'warning' | 'error'

/** Thrown for a refused frame. The bridge sends the message to the sender of the frame. */
export class OpRefused extends Error {
  readonly id: OpId

  constructor(message: string, id?: OpId) {
    super(message)
    this.id = id
  }
}

const clientOps: ReadonlySet<unknown> = new Set(ClientOp.options.map((option) => option.shape.op.value))
const serverOps: ReadonlySet<unknown> = new Set(ServerOp.options.map((option) => option.shape.op.value))

/**
 * Reads a frame of a client.
 * @throws OpRefused for a malformed or unsupported frame
 */
export function readClientOp(text: string): ClientOp {
  const { value, op, opId } = envelope(text)
  if (op === 'fragment' || op === 'png') throw new OpRefused(`${op}: send whole, uncompressed frames`, opId)
  if (!clientOps.has(op)) throw new OpRefused(`${op}: not supported by this bridge`, opId)
  const parsed = ClientOp.safeParse(value)
  if (!parsed.success) throw new OpRefused(`${op}: ${z.prettifyError(parsed.error)}`, opId)
  return parsed.data
}

/**
 * Reads a frame of a server.
 * @returns null for an unused op
 * @throws OpRefused for a malformed frame
 */
export function readServerOp(text: string): ServerOp | null {
  const { value, op, opId } = envelope(text)
  if (!serverOps.has(op)) return null
  const parsed = ServerOp.safeParse(value)
  if (!parsed.success) throw new OpRefused(`${op}: ${z.prettifyError(parsed.error)}`, opId)
  return parsed.data
}

function envelope(text: string): { value: object; op: string; opId: OpId } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new OpRefused('a frame must be JSON')
  }
  if (typeof value !== 'object' || value === null || !('op' in value) || typeof value.op !== 'string')
    throw new OpRefused('a frame must be a JSON object with an "op"')
  const { data: opId } = id.safeParse('id' in value ? value.id : undefined)
  return { value, op: value.op.slice(0, 64), opId }
}
