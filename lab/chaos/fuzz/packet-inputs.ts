import { hubCommands, SessionAction } from '@wheelhouse/protocol'
import type { Random } from '../random.ts'
import type { Input, Step } from './input.ts'
import type { JsonInputs } from './json-inputs.ts'

const UNKNOWN_ID = '"00000000-0000-4000-8000-000000000000"'
/** Ends the session in which operator and observer are fuzzed; drawn rarely. */
const ENDING = new Set(['end', 'cancel'])

/** Generates packets of Engine.IO and Socket.IO: handshakes, commands with generated arguments, and invalid packets. */
export function createPacketInputs(random: Random, json: JsonInputs, sessionId: () => string) {
  let packetId = 0

  function argument(command: string): string {
    const id = random.chance(0.7) ? `"${sessionId()}"` : UNKNOWN_ID
    const actions = SessionAction.options.filter((item) => !ENDING.has(item) || random.chance(0.02))
    const fields: Record<string, Record<string, string>> = {
      'session:watch': { session_id: id, after: String(random.below(100)) },
      'chat:send': { session_id: id, body: '"hello"', client_message_id: `"${random.below(1_000)}"` },
      'session:action': { session_id: id, action: `"${random.pick(actions)}"`, reason: '"fuzz"' },
      'notifications:since': { after: '"1"' },
      'robots:watch': {},
    }
    return json.objectLike(fields[command] ?? { session_id: id })
  }

  function command(): string {
    const name = random.chance(0.95)
      ? random.pick(Object.keys(hubCommands))
      : random.pick(['disconnect', 'x', '', '__proto__', 'connect'])
    const id = random.chance(0.8)
      ? String(packetId++)
      : random.pick(['', '-1', '1e3', '99999999999999999999', '0x1'])
    const more = random.chance(0.1) ? `,${json.value()}` : ''
    return `42${id}[${JSON.stringify(name)},${argument(name)}${more}]`
  }

  function binaryCommand(): Step[] {
    const attachments = random.pick(['1', '2', '0', '-1', '1.5', '99999999', 'x', ''])
    const part = `{"_placeholder":${random.pick(['true', 'true', '1'])},"num":${random.pick(['0', '0', '1', '-1', '1e9', '"length"'])}}`
    const text = `45${attachments}-${packetId++}["session:watch",{"session_id":${part},"more":${json.value()}}]`
    const buffers = Array.from(
      { length: random.below(3) },
      () => ({ kind: 'binary', data: Buffer.from('abc') }) as const,
    )
    return [{ kind: 'text', data: Buffer.from(text) }, ...buffers]
  }

  function odd(): string {
    return random.pick([
      '',
      '2',
      '3',
      '2probe',
      '5',
      '6',
      '1',
      '0',
      '4',
      '40',
      '41',
      '43',
      '44',
      '40/admin,',
      '40/admin,{"token":"x"}',
      '46',
      '42',
      '42[]',
      '42[1]',
      '42["connect"]',
      '42["disconnect"]',
      '42null',
      '42{}',
      '430[]',
      '43',
      '431["x"]',
      '4251-',
      '45',
      '451-',
      `4/${'x'.repeat(1_000)}`,
      `42${'9'.repeat(10_000)}`,
      'bAAAA',
      '\u001e',
      `40${json.value()}`,
      `43${packetId}${json.value()}`,
      `42/other,["x"]`,
      `44${json.value()}`,
      json.value(),
    ])
  }

  return (target: 'hub' | 'hub-stranger'): Input => {
    if (target === 'hub-stranger') {
      const auth = random.chance(0.7) ? `40${json.objectLike({ token: '"svc_live_x"' })}` : odd()
      const steps: Step[] = [{ kind: 'text', data: Buffer.from(json.damaged(auth)) }]
      if (random.chance(0.3)) steps.push({ kind: 'text', data: Buffer.from(command()) })
      return { target, steps }
    }
    const draw = random.below(20)
    if (draw < 13) return { target, steps: [{ kind: 'text', data: Buffer.from(json.damaged(command())) }] }
    if (draw < 16) return { target, steps: binaryCommand() }
    if (draw < 19) return { target, steps: [{ kind: 'text', data: Buffer.from(odd()) }] }
    const data = Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)))
    return { target, steps: [{ kind: random.pick(['binary', 'text', 'raw']), data }] }
  }
}
