import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { DATA_CHANNEL_LABEL, MAX_CHANNEL_MESSAGE_BYTES } from '@wheelhouse/protocol'
import { type DataChannel, PeerConnection, setSctpSettings } from 'node-datachannel'
import { createLog } from '../../src/core/log.ts'
import { connectToParent } from '../../src/core/process/child-link.ts'
import { createGuard } from '../../src/core/process/guard.ts'
import { answerWithCandidates, withoutCandidates } from '../../src/core/webrtc/session-description.ts'
import type { ChannelSettings, FromChannelProcess, ToChannelProcess } from './channel-host.ts'

// The channel process: it has the WebRTC connections of one gateway. A separate process, because the library runs in one thread of a
// process only and ends it with an abort, and because a crash of it must not end the gateway. `createChannelHost` starts it.

/** A connection that has no open channel after this time is closed. */
const OPEN_LIMIT_MS = 15_000
/** Above this many unsent bytes of a channel, frames are dropped. */
const MAX_BUFFERED_BYTES = 16 * 1024
/** Most bytes that the library holds for each direction of a connection. */
const SCTP_BUFFER_BYTES = 128 * 1024

interface Peer {
  readonly connection: PeerConnection
  channel: DataChannel | undefined
  readonly openTimer: NodeJS.Timeout
}

const settings: ChannelSettings = JSON.parse(process.argv[2] ?? '{}')
const peers = new Map<number, Peer>()

const log = createLog({ level: 'warn', pretty: process.stdout.isTTY === true })
const guard = createGuard({ role: 'gateway-channels', log, count: () => {} })
const startOpenTimer = guard.timer('channel:open-limit', (id: number) => end(id))
// The library's events. An exception in one of them would end the process, and with it the channels of all clients.
const onCandidates = guard.handler('channel:candidates', sendAnswer)
const onState = guard.handler('channel:state', (id: number, state: string) => {
  if (state === 'failed' || state === 'closed') end(id)
})
const onChannel = guard.handler('channel:open', open)
const onMessage = guard.handler('channel:message', receive)
const onClosed = guard.handler('channel:closed', end)

setSctpSettings({ sendBufferSize: SCTP_BUFFER_BYTES, recvBufferSize: SCTP_BUFFER_BYTES })
await checkPort()
const post = connectToParent<FromChannelProcess, ToChannelProcess>({
  name: 'channel',
  guard,
  onMessage: (message) => {
    if (message.type === 'offer') offer(message.id, message.sdp)
    else if (message.type === 'send') send(message.id, message.frame)
    else close(message.id)
  },
})

/** Ends the process if the UDP port is in use: the library would not report it. */
async function checkPort(): Promise<void> {
  const socket = createSocket({
    type: settings.bindAddress?.includes(':') ? 'udp6' : 'udp4',
    reuseAddr: false,
  })
  try {
    socket.bind({
      port: settings.port,
      ...(settings.bindAddress && { address: settings.bindAddress }),
      exclusive: true,
    })
    await once(socket, 'listening')
  } catch (cause) {
    process.send?.({ type: 'failed', message: String(cause) } satisfies FromChannelProcess, () =>
      process.exit(1),
    )
    await new Promise(() => {}) // the callback ends the process
  }
  socket.close()
}

function offer(id: number, sdp: string): void {
  try {
    accept(id, sdp)
  } catch (cause) {
    close(id)
    const message = cause instanceof Error ? cause.message : String(cause)
    post({ type: 'closed', id, message: `The offer is not valid: ${message}` })
  }
}

function accept(id: number, sdp: string): void {
  const { bindAddress, port } = settings
  const connection = new PeerConnection(`channel-${id}`, {
    iceServers: [],
    ...(bindAddress !== undefined && { bindAddress }),
    enableIceUdpMux: true,
    portRangeBegin: port,
    portRangeEnd: port,
    maxMessageSize: MAX_CHANNEL_MESSAGE_BYTES,
  })
  const peer: Peer = {
    connection,
    channel: undefined,
    openTimer: startOpenTimer(OPEN_LIMIT_MS, id),
  }
  peers.set(id, peer)
  connection.onGatheringStateChange((state) => onCandidates(id, peer, state))
  connection.onStateChange((state) => onState(id, state))
  connection.onDataChannel((channel) => onChannel(id, peer, channel))
  connection.setRemoteDescription(withoutCandidates(sdp), 'offer')
}

/** Sends the answer once it has all candidates of this side. */
function sendAnswer(id: number, peer: Peer, state: string): void {
  const answer = state === 'complete' && peers.get(id) === peer ? peer.connection.localDescription() : null
  if (answer) post({ type: 'answer', id, sdp: answerWithCandidates(answer.sdp, settings) })
}

function open(id: number, peer: Peer, channel: DataChannel): void {
  if (peer.channel || channel.getLabel() !== DATA_CHANNEL_LABEL) return channel.close()
  peer.channel = channel
  channel.onMessage((data) => onMessage(id, peer, data))
  channel.onClosed(() => onClosed(id))
  clearTimeout(peer.openTimer)
  post({ type: 'opened', id })
}

function receive(id: number, peer: Peer, data: string | Buffer | ArrayBuffer): void {
  if (peers.get(id) !== peer) return
  const frame = data instanceof ArrayBuffer ? new Uint8Array(data) : data
  // While the gateway does not keep up, frames are dropped, as on the network.
  post({ type: 'message', id, frame }, { mayDrop: true })
}

/** Sends one frame, or drops it if the network does not take the earlier ones. */
function send(id: number, frame: string | Uint8Array): void {
  const channel = peers.get(id)?.channel
  try {
    if (!channel?.isOpen() || channel.bufferedAmount() > MAX_BUFFERED_BYTES) return
    if (typeof frame === 'string') channel.sendMessage(frame)
    else channel.sendMessageBinary(frame)
  } catch {
    end(id) // the channel closed in between
  }
}

/** Closes a channel from this side. */
function end(id: number): void {
  if (!peers.has(id)) return
  close(id)
  post({ type: 'closed', id })
}

function close(id: number): void {
  const peer = peers.get(id)
  if (!peer) return
  peers.delete(id)
  clearTimeout(peer.openTimer)
  peer.connection.close()
}
