import { DATA_CHANNEL_LABEL } from '@wheelhouse/protocol'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { expect } from 'vitest'
import { childProcesses } from '../processes/child-processes.ts'
import { waitFor } from '../world/wait.ts'
import type { FrameSocket } from './frame-socket.ts'

const peers: RTCPeerConnection[] = []

/** Closes the channels of a test. */
export function closeTestChannels(): void {
  for (const peer of peers.splice(0)) peer.close()
}

/** Creates an offer with a channel, as a client that tests the gateway's limits. */
export async function createOffer(label = DATA_CHANNEL_LABEL) {
  const peer = new RTCPeerConnection({ iceServers: [] })
  peers.push(peer)
  const channel = peer.createDataChannel(label, { ordered: false, maxRetransmits: 0 })
  await peer.setLocalDescription(await peer.createOffer())
  const received: string[] = []
  channel.addEventListener('message', (event) => received.push((event as MessageEvent).data))
  return { peer, channel, received, sdp: peer.localDescription?.sdp as string }
}

/** Opens a data channel beside a WebSocket. */
export async function openChannel(link: FrameSocket) {
  const offer = await createOffer()
  link.send({ type: 'channel_offer', sdp: offer.sdp })
  await offer.peer.setRemoteDescription({ type: 'answer', sdp: (await link.next('channel_answer')).sdp })
  await waitFor(() => expect(offer.channel.readyState).toBe('open'))
  return offer
}

/** Waits until the gateway has read everything that this peer sent over the channel before. */
export async function hasReadChannel(
  { channel, received }: Awaited<ReturnType<typeof createOffer>>,
  n: number,
): Promise<void> {
  await waitFor(() => {
    channel.send(JSON.stringify({ type: 'probe', n }))
    expect(received).toContain(`{"type":"probe_answer","n":${n}}`)
  })
}

/** Returns the processes that a gateway has started for data channels; of worlds, this process is the gateway. */
export const channelProcesses = (gatewayPid = process.pid): number[] =>
  childProcesses('channel-process', gatewayPid)
