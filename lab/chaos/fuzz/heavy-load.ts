import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import WebSocket from 'ws'
import type { Load, LoadData } from './loads.ts'

// One account that sends the most expensive legal input of each kind, in a separate thread: the measuring thread stays free.

const { baseUrl, key } = workerData as LoadData
const authorization = { Authorization: `Bearer ${key}` }
/** Requests of one kind that are under way at once. */
const PARALLEL = 8
const FOXGLOVE_CONNECTIONS = 20

async function request(method: string, path: string, body?: string) {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...authorization,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, text: await response.text() }
}
async function must(method: string, path: string, body?: object) {
  const { status, text } = await request(method, path, body && JSON.stringify(body))
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as Record<string, string>
}

async function open(
  url: string,
  headers: Record<string, string>,
  protocols: string[] = [],
): Promise<WebSocket> {
  const socket = new WebSocket(url, protocols, { headers, perMessageDeflate: false })
  socket.on('error', () => {}).on('message', () => {})
  await Promise.race([once(socket, 'open'), once(socket, 'close')])
  return socket
}

/** Arrays of the size that a control schema may declare. */
const arrays = (value: unknown) => Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`a${n}`, value]))
const strictSchema = {
  type: 'object',
  properties: arrays({ type: 'array', maxItems: 64, items: { type: 'number', minimum: 0, maximum: 1 } }),
}
/** A body of almost 256 KiB whose entries are all invalid. */
const wideBody = JSON.stringify(
  Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`f${n}`, n])),
).slice(0, 250_000)
const invalidSchema = JSON.stringify({
  control_schema: {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 7_000 }, (_, n) => [`field ${n}`, { type: 'x' }])),
  },
})

/** Registers the robot, connects it, and begins a session with it. */
async function prepare() {
  for (const role of ['operator', 'client']) await must('POST', '/api/auth/profile', { role })
  const camera = createServer((_request, response) => void drip(response.socket))
  camera.listen(0, '127.0.0.1')
  await once(camera, 'listening')
  const robot = await must('POST', '/api/client/robots', {
    name: 'load',
    robot_type: 'load',
    hardware_id: `load ${Date.now()}`,
    stream_url: `http://127.0.0.1:${(camera.address() as AddressInfo).port}/`,
  })
  const settings = { control_schema: strictSchema, strict_control: true }
  await must('PATCH', `/api/client/robots/${robot.id}`, settings)
  const link = await open(String(robot.control_url), { Authorization: `Bearer ${robot.robot_token}` })
  setInterval(() => link.send('{"type":"heartbeat","seq":1}'), 500).unref()
  await delay(1_000)
  const { sessionId } = await must('POST', '/api/sessions', { robotId: robot.id as string })
  return { robotId: String(robot.id), sessionId: String(sessionId), link }
}
type Prepared = Awaited<ReturnType<typeof prepare>>

/** Answers like a camera that sends one byte at a time, and never ends a part. */
async function drip(
  socket: { write(text: string): boolean; readonly destroyed: boolean } | null,
): Promise<void> {
  socket?.write('HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=-----\r\n\r\n')
  while (socket && !socket.destroyed) {
    socket.write('-----')
    await delay(10)
  }
}

/** Sends frames at a rate, in portions of 20 ms, until the end. */
async function stream(
  socket: WebSocket,
  perSecond: number,
  frame: () => string,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted && socket.readyState === WebSocket.OPEN) {
    for (let n = 0; n < perSecond / 50; n++) socket.send(frame())
    await delay(20)
  }
}

/** Sends requests one after the other until the end, several at once. */
async function repeat(send: () => Promise<unknown>, ended: AbortSignal): Promise<void> {
  const one = async () => {
    while (!ended.aborted) {
      await send().catch(() => delay(100))
      await delay(5)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, one))
}

const loads: Record<Load, (prepared: Prepared, ended: AbortSignal) => Promise<unknown>> = {
  nothing: async () => {},
  async commands({ sessionId }, ended) {
    const ticket = await must('POST', `/api/sessions/${sessionId}/ticket`, { part: 'control' })
    const operator = await open(String(ticket.url), { Authorization: `Bearer ${ticket.ticket}` })
    let seq = 0
    const data = JSON.stringify(arrays(Array.from({ length: 64 }, () => 2))).slice(0, -1)
    const command = () =>
      `{"type":"control","seq":${++seq},"t":${performance.now()},"ttl_ms":5000,"data":${data}}}`
    await stream(operator, 200, command, ended)
    operator.close()
  },
  async telemetry({ link }, ended) {
    const frame = JSON.stringify({ type: 'telemetry', data: { text: 'x'.repeat(60_000) } })
    await stream(link, 90, () => frame, ended)
  },
  schemas: ({ robotId }, ended) =>
    repeat(() => request('PATCH', `/api/client/robots/${robotId}`, invalidSchema), ended),
  bodies: ({ sessionId }, ended) =>
    repeat(() => request('PATCH', `/api/sessions/${sessionId}`, wideBody), ended),
  async foxglove({ sessionId }, ended) {
    const flood = async () => {
      const ids = Array.from({ length: 4_000 }, (_, id) => ({ id, channelId: id }))
      const text = JSON.stringify({ op: 'subscribe', subscriptions: ids }).slice(0, 64_000)
      while (!ended.aborted) {
        const { url } = await must('POST', `/api/sessions/${sessionId}/foxglove`)
        const socket = await open(String(url), {}, ['foxglove.websocket.v1'])
        await stream(socket, 100, () => text, ended)
        socket.terminate()
        await delay(200)
      }
    }
    const flooded = () => flood().catch(() => delay(500))
    await Promise.all(Array.from({ length: FOXGLOVE_CONNECTIONS }, flooded))
  },
  async hub(_prepared, ended) {
    const address = `${baseUrl.replace(/^http/, 'ws')}/socket.io/?EIO=4&transport=websocket`
    const hub = await open(address, {})
    hub.send(`40${JSON.stringify({ token: key })}`)
    hub.on('message', (text) => {
      if (String(text) === '2') hub.send('3')
    })
    const event = `420["session:watch",${wideBody.slice(0, 60_000)}}]`
    await stream(hub, 200, () => event, ended)
    hub.close()
  },
  mcp: (_prepared, ended) =>
    repeat(
      () =>
        request(
          'POST',
          '/api/mcp',
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":${wideBody}}}}`,
        ),
      ended,
    ),
  async camera({ robotId }, ended) {
    await must('PATCH', `/api/client/robots/${robotId}`, { recording: 'video' })
    await once(ended, 'abort')
    await must('PATCH', `/api/client/robots/${robotId}`, { recording: 'off' })
  },
}

const port = parentPort
if (!port) throw new Error('heavy-load.ts runs in a worker thread only.')
const prepared = await prepare()
let running: AbortController | undefined
port.on('message', (load: Load | undefined) => {
  running?.abort()
  if (load === undefined) return
  const controller = new AbortController()
  running = controller
  loads[load](prepared, controller.signal).catch((cause) => {
    if (!controller.signal.aborted) port.postMessage(`the load ${load} failed: ${cause}`)
  })
})
port.postMessage('ready')
