import { WebSocket } from 'ws'

// An operator program on bare `ws` that keeps every duty of docs/protocol-operator.md, except for the mistake that MISTAKE names.

const { SESSION_ID, WHEELHOUSE_URL, WHEELHOUSE_API_KEY, MISTAKE: mistake } = process.env
const makes = (name: string) => mistake === name

const FRAME_MS = makes('sends too few commands') ? 150 : 40
const RETRY_CODES = new Set([1006, 4009, 4408, 4503, ...(makes('returns after 4410') ? [4410] : [])])
if (makes('gives up after 4408')) RETRY_CODES.delete(4408)

type Frame = Record<string, unknown> & { readonly type?: unknown }

let socket: WebSocket | undefined
let state: { status: string; stop: { latched: boolean; recorded: boolean } | null } | undefined
let scale = 1
let seq = 0
let failures = 0
let stops = 0
let isStopping = false
let holds = true
let ticket: { url: string; ticket: string } | undefined

const send = (frame: Frame | string) => {
  if (socket?.readyState === WebSocket.OPEN)
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
}

function mayDrive(): boolean {
  if (state === undefined) return makes('drives before the first state')
  if (!holds) return makes('drives while somebody else has control')
  if (state.stop?.latched) return makes('drives under a stop')
  return state.status === 'ACTIVE' || makes('drives in a paused session')
}

function drive(): void {
  if (!mayDrive() || isStopping) return
  if (!makes('repeats its seq')) seq += 1
  const jump = makes('has a clock that jumps') && seq % 20 > 10 ? 60_000 : 0
  const isFast = makes('ignores limits') || makes('declares limits without applying them')
  const speed = 0.4 * (isFast ? 1 : scale)
  const frame = {
    type: 'control',
    seq,
    t: performance.now() + jump,
    ...(makes('sets no lifetime') ? {} : { ttl_ms: 250 }),
    video_age_ms: 20,
    ...(scale < 1 && !makes('ignores limits') && { speed_scale: scale }),
    data: { linear_mps: makes('never drives') ? 0 : speed },
  }
  const text = JSON.stringify(frame)
  send(
    makes('sends NaN') && seq % 5 === 0
      ? text.replace('{"linear_mps":', '{"angular_radps":NaN,"linear_mps":')
      : text,
  )
}

function onFrame(frame: Frame): void {
  if (frame.type === 'state') state = frame as unknown as typeof state
  else if (frame.type === 'lease') holds = frame.you === true && !makes('never drives again')
  else if (frame.type === 'limits') scale = Number(frame.speed_scale)
  else if (makes('answers every frame')) send({ type: 'ping', t: performance.now() })
  if (state?.stop?.latched && state.stop.recorded) isStopping = false
}

async function fetchTicket(): Promise<{ url: string; ticket: string } | undefined> {
  if (makes('uses its ticket again') && ticket) return ticket
  const response = await fetch(`${WHEELHOUSE_URL}/api/sessions/${SESSION_ID}/ticket`, {
    method: 'POST',
    headers: { authorization: `Bearer ${WHEELHOUSE_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ part: 'control' }),
  })
  if (response.ok) ticket = (await response.json()) as NonNullable<typeof ticket>
  else if (makes('gives up when the robot is offline')) process.exit(1)
  return response.ok ? ticket : undefined
}

function retry(): void {
  const ceilingMs = Math.min(10_000, 250 * 2 ** failures++)
  setTimeout(connect, makes('reconnects in a tight loop') ? 10 : Math.random() * ceilingMs)
}

async function connect(): Promise<void> {
  const admitted = await fetchTicket().catch(() => undefined)
  if (!admitted) return retry()
  const own = new WebSocket(admitted.url, ['wheelhouse.v1', `bearer.${admitted.ticket}`])
  socket = own
  own.on('error', () => {})
  own.on('open', () => {
    seq = 0
    if (makes('sends malformed frames')) send({ type: 'ping', t: 'now' })
    if (makes('sends a frame that is too large')) send({ type: 'ping', t: 0, x: 'x'.repeat(70_000) })
  })
  own.on('close', (code) => {
    state = undefined
    scale = 1
    holds = true
    if (!RETRY_CODES.has(code)) process.exit(1)
    if (makes('uses its ticket again')) setTimeout(() => (ticket = undefined), 500)
    retry()
  })
  own.on('message', (data, isBinary) => {
    if (isBinary) return
    failures = 0
    try {
      const frame: unknown = JSON.parse(String(data))
      if (typeof frame === 'object' && frame !== null) onFrame(frame as Frame)
    } catch (cause) {
      if (makes('dies of malformed text')) throw cause
    }
  })
}

process.on('SIGUSR2', () => {
  isStopping = true
  stops = 0
})
setInterval(() => {
  if (isStopping && (stops++ === 0 || !makes('requests a stop once')))
    send({ type: 'stop', reason: 'told to' })
}, 500)
setInterval(drive, FRAME_MS)
void connect()
