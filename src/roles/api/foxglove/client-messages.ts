import { isNestedTooDeep } from '@wheelhouse/protocol'
import { z } from 'zod'

const CLIENT_MESSAGE_DATA = 1
const SERVICE_CALL_REQUEST = 2
const PLAYBACK_CONTROL_REQUEST = 3

/** A client's request of playback control. */
export interface PlaybackRequest {
  readonly command: 'play' | 'pause'
  readonly speed: number
  readonly seekToNs: bigint | undefined
  readonly requestId: string
}

const playbackCommands = ['play', 'pause'] as const
const MAX_REQUEST_ID_BYTES = 256
/** Room for a subscription to each of the channels that a client may subscribe to. */
const MAX_TEXT_BYTES = 16 * 1024

/** Reads: command (1), speed (4), hasSeek (1), time (8), length of the request's id (4), its id. */
function readPlaybackRequest(bytes: Buffer): PlaybackRequest | undefined {
  if (bytes.length < 19) return undefined
  const command = playbackCommands[bytes.readUInt8(1)]
  const idBytes = bytes.readUInt32LE(15)
  if (!command || idBytes > MAX_REQUEST_ID_BYTES || bytes.length < 19 + idBytes) return undefined
  return {
    command,
    speed: bytes.readFloatLE(2),
    seekToNs: bytes.readUInt8(6) === 0 ? undefined : bytes.readBigUInt64LE(7),
    requestId: bytes.toString('utf8', 19, 19 + idBytes),
  }
}

const Id = z.number().int().min(0).max(0xffff_ffff)
const ClientText = z.discriminatedUnion('op', [
  z.object({
    op: z.literal('subscribe'),
    subscriptions: z.array(z.object({ id: Id, channelId: Id })),
  }),
  z.object({ op: z.literal('unsubscribe'), subscriptionIds: z.array(Id) }),
])

/** A message of a client. `refused`: a request that no connection supports. */
export type ClientMessage =
  | z.infer<typeof ClientText>
  | { readonly op: 'playback'; readonly request: PlaybackRequest }
  | { readonly op: 'refused'; readonly reason: string }

const READ_ONLY = 'This connection is read-only.'
const refusals: Readonly<Record<string, string>> = {
  advertise: `${READ_ONLY} Clients cannot publish.`,
  unadvertise: `${READ_ONLY} Clients cannot publish.`,
  getParameters: 'The platform has no parameters.',
  setParameters: 'The platform has no parameters.',
  subscribeParameterUpdates: 'The platform has no parameters.',
  unsubscribeParameterUpdates: 'The platform has no parameters.',
  subscribeConnectionGraph: 'The platform has no connection graph.',
  unsubscribeConnectionGraph: 'The platform has no connection graph.',
  fetchAsset: 'The platform has no assets.',
}
const refused = (reason: string): ClientMessage => ({ op: 'refused', reason })

/** Reads a message of a client. Never throws. */
export function readClientMessage(bytes: Buffer, isBinary: boolean): ClientMessage {
  if (isBinary) return readBinary(bytes)
  if (bytes.length > MAX_TEXT_BYTES) return refused(`A text may have at most ${MAX_TEXT_BYTES} bytes.`)
  return readText(String(bytes))
}

function readText(text: string): ClientMessage {
  if (isNestedTooDeep(text)) return refused('The message is nested too deeply.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refused('The message is not JSON.')
  }
  const parsed = ClientText.safeParse(value)
  if (parsed.success) return parsed.data
  const op: unknown = typeof value === 'object' && value !== null && 'op' in value ? value.op : undefined
  const known = typeof op === 'string' && Object.hasOwn(refusals, op) ? refusals[op] : undefined
  return refused(known ?? 'The message is malformed, or its op is unknown.')
}

function readBinary(bytes: Buffer): ClientMessage {
  switch (bytes[0]) {
    case CLIENT_MESSAGE_DATA:
      return refused(`${READ_ONLY} Clients cannot publish.`)
    case SERVICE_CALL_REQUEST:
      return refused('The platform has no services.')
    case PLAYBACK_CONTROL_REQUEST: {
      const request = readPlaybackRequest(bytes)
      return request ? { op: 'playback', request } : refused('The playback request is malformed.')
    }
    default:
      return refused('The binary message has an unknown opcode.')
  }
}
