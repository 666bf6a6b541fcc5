/** The target of an input: a WebSocket with a credential, one without, or a bare TCP connection. */
export const targets = [
  'robot',
  'operator',
  'observer',
  'gateway-bytes',
  'hub',
  'hub-stranger',
  'hub-bytes',
] as const
export type Target = (typeof targets)[number]

/** One message. A `part` is a fragment that others follow; `raw` bytes bypass the WebSocket framing. */
export interface Step {
  readonly kind: 'text' | 'binary' | 'part' | 'ping' | 'pong' | 'raw' | 'close'
  readonly data: Buffer
}

export interface Input {
  readonly target: Target
  readonly steps: readonly Step[]
}

const SHOWN = 300

/** Describes an input in one line; truncates long messages. */
export function describeInput({ target, steps }: Input): string {
  const shown = steps.map(({ kind, data }) => {
    const text = kind === 'text' || kind === 'part' ? data.toString() : data.toString('latin1')
    const cut = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
    return `${kind} of ${data.length} bytes ${JSON.stringify(cut)}`
  })
  return `${target}: ${shown.join(', then ')}`
}
