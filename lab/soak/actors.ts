import { OperatorLink, SimulatedRobot, ticketsOf } from '@wheelhouse/sdk'
import WebSocket from 'ws'

const COMMAND_EVERY_MS = 20
/** Long enough for the deadman, and for the arrival of its stop. */
const SILENCE_MS = 600

interface ActorCounts {
  /** Commands sent; those that the robot obeyed; those that the gateway refused, by reason. */
  sent: number
  acknowledged: number
  readonly dropped: Map<string, number>
  /** Commands without a connection, or without buffer space. */
  unsent: number
  /** From the last command at the robot's socket to the deadman's stop there, milliseconds. */
  readonly silencesMs: number[]
  /** Silences after which not exactly one stop arrived. */
  wrongStops: number
  readonly troubles: string[]
}

/** Creates one simulated robot and its operator. The operator drives it in circles and sometimes falls silent. */
export function createSoakActors(parts: {
  robotUrl: string
  robotToken: string
  baseUrl: string
  apiKey: string
  sessionId: () => string
}) {
  const recorder: ActorCounts = {
    sent: 0,
    acknowledged: 0,
    dropped: new Map(),
    unsent: 0,
    silencesMs: [],
    wrongStops: 0,
    troubles: [],
  }
  const note = (who: string) => (cause: unknown) => void recorder.troubles.push(`${who}: ${cause}`)
  let lastCommandMs = 0
  let stops = 0

  /** The robot's socket, with a listener. */
  class ObservedWebSocket extends WebSocket {
    constructor(url: string, options: WebSocket.ClientOptions) {
      super(url, options)
      this.on('message', (data) => {
        const text = String(data)
        if (text.startsWith('{"type":"control"')) lastCommandMs = performance.now()
        if (!text.startsWith('{"type":"stop"') || !text.includes('deadman')) return
        stops++
        recorder.silencesMs.push(performance.now() - lastCommandMs)
      })
    }
  }
  const robot = new SimulatedRobot({
    url: parts.robotUrl,
    token: parts.robotToken,
    WebSocket: ObservedWebSocket,
    PeerConnection: null, // a data channel would carry what the socket is observed for
    onError: note('robot'),
    onClosed: ({ reason }) => note('robot closed')(reason),
  })
  let operator: OperatorLink | undefined
  let timer: NodeJS.Timeout | undefined
  let silentUntilMs = 0
  let stopsBefore = 0

  function command(): void {
    const nowMs = performance.now()
    if (nowMs < silentUntilMs) return
    if (silentUntilMs > 0 && stops !== stopsBefore + 1) recorder.wrongStops++
    silentUntilMs = 0
    if (operator?.control({ linear_mps: 0.2, angular_radps: 0.8 }) == null) recorder.unsent++
    else recorder.sent++
  }

  return {
    recorder,
    startRobot: () => robot.start(),
    async startOperator(): Promise<void> {
      const { baseUrl, apiKey: token } = parts
      operator = new OperatorLink({
        getTicket: ticketsOf({ baseUrl, token, sessionId: parts.sessionId(), part: 'control' }),
        onAck: () => void recorder.acknowledged++,
        onDropped: (_seq, why) => void recorder.dropped.set(why, (recorder.dropped.get(why) ?? 0) + 1),
        onError: note('operator'),
        onConnection: (state) => state === 'offline' && note('operator')('offline'),
      })
      await operator.connect()
      timer = setInterval(command, COMMAND_EVERY_MS)
    },
    stopSending(): void {
      stopsBefore = stops
      silentUntilMs = performance.now() + SILENCE_MS
    },
    /** Stops driving; commands in flight still arrive. */
    rest(): void {
      clearInterval(timer)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await operator?.close()
      await robot.close()
    },
  }
}
export type SoakActors = ReturnType<typeof createSoakActors>
