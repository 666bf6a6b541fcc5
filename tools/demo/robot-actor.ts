import { ToRobotFrame } from '@wheelhouse/protocol'
import { SimulatedRobot, type WebSocketConstructor } from '@wheelhouse/sdk'
import { type ClientOptions, WebSocket } from 'ws'
import { createTcpProxy, type TcpProxy } from '../../test/support/network/tcp-proxy.ts'
import type { Transcript } from './transcript.ts'

/** Heartbeats are frequent; the transcript shows only the first ones. */
const HEARTBEATS_SHOWN = 2

/** A simulated robot whose frames the transcript shows, on a link that can be cut. */
export interface RobotActor {
  readonly link: TcpProxy
  readonly robot: SimulatedRobot
}

/** Prepares the robot; it connects later, with its own call. */
export async function createRobotActor(
  { controlUrl, token }: { controlUrl: string; token: string },
  transcript: Transcript,
): Promise<RobotActor> {
  const link = await createTcpProxy(controlUrl)
  let online = false
  const robot = new SimulatedRobot({
    url: link.url,
    token,
    reconnect: { maxMs: 500 },
    WebSocket: loggingSocket(transcript),
    onConnection: (state, closeCode) => {
      // Attempts over a cut link also end "offline"; only the loss of a connection is worth a line.
      if (state === 'offline' && online) transcript.logReceived('ROBOT', `offline, close code ${closeCode}`)
      if (state !== 'connecting') online = state === 'online'
    },
    onClosed: ({ reason, httpStatus, closeCode }) => {
      if (httpStatus ?? closeCode) transcript.logReceived('ROBOT', `gave up: ${reason}`)
    },
  })
  return { link, robot }
}

/** Returns the WebSocket of `ws`, which logs each frame that the robot receives. */
function loggingSocket(transcript: Transcript): WebSocketConstructor {
  let heartbeatSentAtMs = 0
  const logFrame = (frame: ToRobotFrame) => {
    if (frame.type === 'heartbeat_ack') {
      const [seq, last] = [frame.seq ?? 0, frame.seq === HEARTBEATS_SHOWN]
      const text = `heartbeat_ack ${seq}${last ? ' (the next ones are not shown)' : ''}`
      if (seq <= HEARTBEATS_SHOWN)
        transcript.logReceived('ROBOT', text, performance.now() - heartbeatSentAtMs)
    } else transcript.logReceived('ROBOT', describe(frame))
  }
  return class extends WebSocket {
    constructor(url: string, options: ClientOptions) {
      super(url, options)
      this.on('message', (data) => logFrame(ToRobotFrame.parse(JSON.parse(String(data)))))
    }

    override send(text: string): void {
      if (text.includes('"type":"heartbeat"')) heartbeatSentAtMs = performance.now()
      super.send(text)
    }
  }
}

function describe(frame: ToRobotFrame): string {
  if (frame.type === 'welcome') {
    return `welcome, epoch ${frame.epoch}, ${frame.session ? `session ${frame.session.status}` : 'no session'}`
  }
  if (frame.type === 'session') return `session ${frame.status}, operator ${frame.operator_name}`
  if (frame.type === 'stop') return `stop ${frame.reason}`
  return frame.type
}
