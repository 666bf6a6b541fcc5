import { WebSocketServer } from 'ws'
import { sendReady } from '../../../test/support/processes/rpc.ts'
import { BEATS_SQL, openBeatsPool, ROWS_PER_STATEMENT } from './heartbeats-sql.ts'

// The peer: the popular `ws` with the core of Wheelhouse's work. It reads a heartbeat, acknowledges it, stores the
// newest of each robot and writes them once a second. Without tokens, presence and timeouts.

const FLUSH_MS = 1_000

interface Robot {
  readonly id: string
  lastBeatMs: number
}

const pool = openBeatsPool(process.env.DATABASE_URL ?? '', 1)
let unsaved = new Set<Robot>()
let flushing = false

function beat(robot: Robot, text: string): string | undefined {
  const frame: { type?: unknown; seq?: unknown } = JSON.parse(text)
  if (frame.type !== 'heartbeat') return undefined
  robot.lastBeatMs = Date.now()
  unsaved.add(robot)
  return `{"type":"heartbeat_ack","seq":${Number(frame.seq)},"t":${robot.lastBeatMs}}`
}

async function flush(): Promise<void> {
  if (flushing) return
  flushing = true
  const robots = [...unsaved]
  unsaved = new Set()
  for (let start = 0; start < robots.length; start += ROWS_PER_STATEMENT) {
    const batch = robots.slice(start, start + ROWS_PER_STATEMENT)
    const values = [batch.map((item) => item.id), batch.map(() => 1), batch.map((item) => item.lastBeatMs)]
    await pool.query({ name: 'beats', text: BEATS_SQL, values })
  }
  flushing = false
}
setInterval(flush, FLUSH_MS)

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, backlog: 4_096 })
server.on('connection', (socket, request) => {
  const robot: Robot = { id: request.url?.split('/')[2] ?? '', lastBeatMs: 0 }
  socket.on('message', (data) => {
    const reply = beat(robot, data.toString())
    if (reply !== undefined) socket.send(reply)
  })
  socket.send(`{"type":"welcome","robot_id":"${robot.id}"}`)
})
server.on('listening', () => {
  const address = server.address()
  if (typeof address === 'object' && address) sendReady(address.port)
})
