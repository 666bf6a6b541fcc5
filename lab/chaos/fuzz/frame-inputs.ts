import { encodeBinaryFrame } from '@wheelhouse/protocol'
import type { Random } from '../random.ts'
import type { Input, Step } from './input.ts'
import type { JsonInputs } from './json-inputs.ts'

type Frames = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The frames that robots send, with valid fields, as JSON. */
const robotFrames: Frames = {
  heartbeat: { type: '"heartbeat"', seq: '1', battery: '0.5' },
  telemetry: { type: '"telemetry"', data: '{"x":1}' },
  ack: { type: '"ack"', seq: '1' },
  stopped: { type: '"stopped"', reason: '"deadman"' },
  log: { type: '"log"', level: '"info"', message: '"hello"' },
  episode: {
    type: '"episode"',
    episode_id: '"episode-1"',
    started_at: '1795167060000',
    ended_at: '1795167061000',
    size_bytes: '1024',
    success: 'true',
    uri: '"s3://bucket/key"',
  },
}
const operatorFrames: Frames = {
  control: { type: '"control"', seq: '1', t: '1', ttl_ms: '250', data: '{"x":1}' },
  stop: { type: '"stop"', reason: '"fuzz"' },
  ping: { type: '"ping"', t: '1' },
}
const observerFrames: Frames = { ping: operatorFrames.ping ?? {}, stop: operatorFrames.stop ?? {} }
const framesOf = { robot: robotFrames, operator: operatorFrames, observer: observerFrames }

const OVERSIZED = [65_535, 65_536, 65_537, 100_000, 262_144, 262_145, 400_000]
const HEADER_BYTES = 16

/** Generates the messages that peers of the gateway send after the upgrade. */
export function createFrameInputs(random: Random, json: JsonInputs) {
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256)))

  function text(target: keyof typeof framesOf): string {
    const frames = random.chance(0.9)
      ? framesOf[target]
      : framesOf[random.pick(['robot', 'operator'] as const)]
    const names = Object.keys(frames)
    // Relayed frames are drawn most often, because most code handles them.
    const name = random.chance(0.4) ? (target === 'robot' ? 'telemetry' : 'control') : random.pick(names)
    const fields: Record<string, string> = { ...(frames[name] ?? { type: '"control"', data: 'null' }) }
    if ('seq' in fields) fields.seq = String(random.below(1_000_000))
    if (name === 'episode') fields.episode_id = `"${random.below(1_000)}"`
    if ('data' in fields && random.chance(0.5)) fields.data = json.value()
    return json.damaged(random.chance(0.95) ? json.objectLike(fields) : json.value())
  }

  function binary(): Buffer {
    const header = {
      kind: random.pick([1, 2, 0, 3, 255]),
      flags: random.below(256),
      ttlMs: random.below(65_536),
      seq: random.pick([0, 1, random.below(2 ** 32), 2 ** 32 - 1]),
      t: random.pick([
        1_795_167_060_000,
        0,
        -1,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.MAX_VALUE,
        5e-324,
      ]),
    }
    const frame = Buffer.from(encodeBinaryFrame(header, bytes(random.pick([0, 1, 8, 1_000]))))
    return random.chance(0.3) ? frame.subarray(0, random.below(HEADER_BYTES + 1)) : frame
  }

  /** Generates a fragmented message, an unfinished one, or bytes that are not a WebSocket frame. */
  function unusual(target: keyof typeof framesOf): Step[] {
    const whole = Buffer.from(text(target))
    const at = random.below(whole.length + 1)
    return random.pick<() => Step[]>([
      () => [
        { kind: 'part', data: whole.subarray(0, at) },
        { kind: 'text', data: whole.subarray(at) },
      ],
      () => [{ kind: 'part', data: whole }],
      () => [{ kind: 'text', data: Buffer.alloc(random.pick(OVERSIZED), '[') }],
      () => [
        {
          kind: 'text',
          data: Buffer.from(`{"type":"control","data":"${'x'.repeat(random.pick(OVERSIZED))}"}`),
        },
      ],
      () => [{ kind: 'binary', data: Buffer.alloc(random.pick(OVERSIZED), 1) }],
      () => [{ kind: 'text', data: bytes(random.below(100)) }],
      () => [{ kind: 'text', data: Buffer.concat([Buffer.from('{"type":"'), bytes(4), Buffer.from('"}')]) }],
      () => [{ kind: 'ping', data: bytes(random.below(126)) }],
      () => [{ kind: 'pong', data: bytes(random.below(126)) }],
      () => [{ kind: 'raw', data: bytes(1 + random.below(64)) }],
      () => [{ kind: 'close', data: bytes(0) }],
    ])()
  }

  return (target: keyof typeof framesOf): Input => {
    const draw = random.below(20)
    if (draw < 14) return { target, steps: [{ kind: 'text', data: Buffer.from(text(target)) }] }
    if (draw < 17) return { target, steps: [{ kind: 'binary', data: binary() }] }
    return { target, steps: unusual(target) }
  }
}

const HEADERS = [
  'Host: x',
  'Host: y',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Version: 99999999999',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Key: x',
  'Sec-WebSocket-Protocol: bearer.x',
  'Sec-WebSocket-Protocol: ,,,',
  'Authorization: Bearer a.b.c',
  'Authorization: ',
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Origin: null',
  'Expect: 100-continue',
  'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99',
  'Cookie: a=b; a=c',
  'X: \u0000',
  ': x',
  'x',
]

/** Generates requests as bytes on a TCP connection, for either server. */
export function createRequestInputs(random: Random) {
  const paths = (target: 'gateway-bytes' | 'hub-bytes') =>
    target === 'gateway-bytes'
      ? [
          '/robots/00000000-0000-4000-8000-000000000000/control',
          '/sessions/x/control',
          '/sessions//watch',
          '/metrics',
          '/%ff',
          '/livez',
          '*',
        ]
      : [
          '/socket.io/?EIO=4&transport=websocket',
          '/socket.io/?EIO=4&transport=polling',
          '/socket.io/?EIO=3',
          '/socket.io/?EIO=4&transport=polling&sid=x',
          '/socket.io/?sid=__proto__&EIO=4&transport=websocket',
        ]
  return (target: 'gateway-bytes' | 'hub-bytes'): Input => {
    const method = random.pick(['GET', 'GET', 'GET', 'POST', 'OPTIONS', 'get', 'PRI', ''])
    const version = random.pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''])
    const upgrade = random.chance(0.5)
      ? HEADERS.filter((item) =>
          /^(Host: x|Connection|Upgrade: w|Sec-WebSocket-(Version: 13|Key: d))/.test(item),
        )
      : []
    const headers = [...upgrade, ...Array.from({ length: random.below(6) }, () => random.pick(HEADERS))]
    const long = random.chance(0.05) ? [`X-Long: ${'x'.repeat(random.pick([5_000, 20_000]))}`] : []
    const body = random.pick([
      '',
      '',
      'hello',
      '5\r\nhello\r\n0\r\n\r\n',
      '40{}',
      '\u001e40\u001e',
      'ffffffffffffffff\r\n',
    ])
    const lines = [`${method} ${random.pick(paths(target))} ${version}`, ...headers, ...long]
    const text = `${lines.join(random.chance(0.95) ? '\r\n' : '\n')}\r\n\r\n${body}`
    const end = random.chance(0.1) ? random.below(text.length) : text.length
    return { target, steps: [{ kind: 'raw', data: Buffer.from(text.slice(0, end), 'latin1') }] }
  }
}
