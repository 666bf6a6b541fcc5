import { ToRobotFrame } from '@wheelhouse/protocol'
import { SimulatedRobot, type WebSocketConstructor } from '@wheelhouse/sdk'
import { type ClientOptions, WebSocket } from 'ws'
import { type Cable, layCable } from './play-cable.ts'
import type { Transcript } from './play-transcript.ts'

/** Heartbeats go on all the time; the first ones say enough. */
const BEATS_SHOWN = 2

/** A simulated robot whose frames are told, on a cable that can be cut. */
export interface PlayRobot {
  readonly cable: Cable
  readonly robot: SimulatedRobot
}

/** Prepares the robot; it connects when told to. */
export async function createPlayRobot(
  { controlUrl, token }: { controlUrl: string; token: string },
  transcript: Transcript,
): Promise<PlayRobot> {
  const target = new URL(controlUrl)
  const cable = await layCable(target)
  let online = false
  const robot = new SimulatedRobot({
    url: `ws://127.0.0.1:${cable.port}${target.pathname}`,
    token,
    reconnect: { maxMs: 500 },
    WebSocket: tellingSocket(transcript),
    onConnection: (state, closeCode) => {
      // Attempts on a cut cable also end "offline"; only the loss of a connection is news.
      if (state === 'offline' && online) transcript.sees('ROBOT', `offline, close code ${closeCode}`)
      if (state !== 'connecting') online = state === 'online'
    },
    onClosed: ({ reason, httpStatus, closeCode }) => {
      if (httpStatus ?? closeCode) transcript.sees('ROBOT', `gave up: ${reason}`)
    },
  })
  return { cable, robot }
}

/** The WebSocket of `ws`, telling each frame the robot receives. */
function tellingSocket(transcript: Transcript): WebSocketConstructor {
  let beatAtMs = 0
  const tell = (frame: ToRobotFrame) => {
    if (frame.type === 'heartbeat_ack') {
      const [seq, last] = [frame.seq ?? 0, frame.seq === BEATS_SHOWN]
      const text = `heartbeat_ack ${seq}${last ? ' (the next ones are not shown)' : ''}`
      if (seq <= BEATS_SHOWN) transcript.sees('ROBOT', text, performance.now() - beatAtMs)
    } else transcript.sees('ROBOT', describe(frame))
  }
  return class extends WebSocket {
    constructor(url: string, options: ClientOptions) {
      super(url, options)
      this.on('message', (data) => tell(ToRobotFrame.parse(JSON.parse(String(data)))))
    }

    override send(text: string): void {
      if (text.includes('"type":"heartbeat"')) beatAtMs = performance.now()
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
