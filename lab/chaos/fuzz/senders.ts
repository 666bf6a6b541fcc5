import { once } from 'node:events'
import { connect } from 'node:net'
import pTimeout from 'p-timeout'
import WebSocket from 'ws'
import type { Actors } from './actors.ts'
import type { Input, Step, Target } from './input.ts'
import type { FuzzedPlatform } from './platform.ts'

const OPEN_LIMIT_MS = 15_000
/** How long a bare connection waits for an answer. */
const ANSWER_MS = 20

interface Dial {
  readonly url: string
  readonly headers?: Record<string, string>
  /** Sent on open, and the beginning of the answer that must arrive before any input is sent. */
  readonly hello?: { readonly text: string; readonly answer: string }
}

/** Sends inputs to a platform, over connections that are reopened whenever they have ended. */
export function createSenders(platform: FuzzedPlatform, actors: Actors) {
  const { baseUrl, gatewayUrl, keys } = platform
  const open = new Map<Target, WebSocket>()
  const hubUrl = `${baseUrl.replace(/^http/, 'ws')}/socket.io/?EIO=4&transport=websocket`

  async function dialOf(target: Target): Promise<Dial | undefined> {
    if (target === 'hub') {
      return { url: hubUrl, hello: { text: `40${JSON.stringify({ token: keys.admin })}`, answer: '40' } }
    }
    if (target === 'hub-stranger') return { url: hubUrl }
    if (target === 'robot') {
      return { url: actors.extra.url, headers: { Authorization: `Bearer ${actors.extra.token}` } }
    }
    const ticket = await actors.ticket(target === 'operator' ? 'control' : 'watch')
    return ticket && { url: ticket.url, headers: { Authorization: `Bearer ${ticket.ticket}` } }
  }

  async function connection(target: Target): Promise<WebSocket | undefined> {
    const present = open.get(target)
    if (present?.readyState === WebSocket.OPEN) return present
    present?.terminate()
    const dial = await dialOf(target).catch(() => undefined)
    if (!dial) return undefined
    const socket = new WebSocket(dial.url, { headers: dial.headers ?? {}, perMessageDeflate: false })
    socket
      .on('error', () => {})
      .on('message', (data) => {
        if (String(data) === '2' && target.startsWith('hub')) socket.send('3') // a ping of Engine.IO
      })
    open.set(target, socket)
    const signal = AbortSignal.timeout(OPEN_LIMIT_MS)
    try {
      await once(socket, 'open', { signal })
      if (dial.hello) await handshake(socket, dial.hello, signal)
      return socket
    } catch {
      socket.terminate()
      return undefined
    }
  }

  return {
    /** Sends one input; returns whether there was a connection for it. */
    async send({ target, steps }: Input): Promise<boolean> {
      if (target === 'gateway-bytes' || target === 'hub-bytes') {
        await sendBytes(target === 'hub-bytes' ? baseUrl : gatewayUrl, steps)
        return true
      }
      const socket = await connection(target)
      if (!socket) return false
      for (const step of steps) if (socket.readyState === WebSocket.OPEN) take(socket, step)
      return true
    },
    close(): void {
      for (const socket of open.values()) socket.terminate()
    },
  }
}

async function handshake(
  socket: WebSocket,
  hello: NonNullable<Dial['hello']>,
  signal: AbortSignal,
): Promise<void> {
  socket.send(hello.text)
  for (;;) {
    const [data] = (await once(socket, 'message', { signal })) as [WebSocket.RawData]
    if (String(data).startsWith(hello.answer)) return
  }
}

function take(socket: WebSocket, { kind, data }: Step): void {
  if (kind === 'close') socket.close()
  else if (kind === 'ping') socket.ping(data)
  else if (kind === 'pong') socket.pong(data)
  else if (kind === 'raw')
    Reflect.get(socket, '_socket')?.write(data) // bypasses the library, which would reject it
  else socket.send(data, { binary: kind === 'binary', fin: kind !== 'part' })
}

async function sendBytes(url: string, steps: readonly Step[]): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}).resume()
  for (const { data } of steps) socket.write(data)
  await pTimeout(once(socket, 'close'), { milliseconds: ANSWER_MS, message: false }).catch(() => {})
  socket.destroy()
}
