import { createSocket } from 'node:dgram'
import { setTimeout as delay } from 'node:timers/promises'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { transportNamed } from '../transports/list.ts'
import { COMMANDS_HZ, type EndAddress, type OperatorEnd } from '../transports/transport.ts'
import { monotonicMs, watchPauses } from './clock.ts'
import { raisePriority } from './priority.ts'

// The process with all operators of a run.

const COMMAND_EVERY_MS = 1_000 / COMMANDS_HZ
const LINEAR_MPS = 0.2
const ANGULAR_RADPS = 0.8
const DATAGRAM_BYTES = 1_200
const BITS_PER_BYTE = 8

const pauses = watchPauses()
const refused = new Map<string, number>()
let operators: OperatorEnd[] = []
let counts = { sent: 0, unsent: 0, lost: 0 }
let timer: NodeJS.Timeout | undefined

const refuse = (why: string) => void refused.set(why, (refused.get(why) ?? 0) + 1)

/** Sends a command of every operator fifty times a second, evenly spread. It never catches up on missed commands. */
function drive(): void {
  const stepMs = COMMAND_EVERY_MS / operators.length
  let dueMs = monotonicMs()
  let turn = 0
  const step = () => {
    const nowMs = monotonicMs()
    if (nowMs - dueMs > COMMAND_EVERY_MS) dueMs = nowMs
    for (; dueMs <= nowMs; dueMs += stepMs) command(turn++)
    timer = setTimeout(step, dueMs - nowMs)
  }
  step()
}

function command(turn: number): void {
  const operator = operators[turn % operators.length]
  const seq = Math.floor(turn / operators.length)
  const sent_ms = monotonicMs()
  const sent = operator?.send({ seq, sent_ms, linear_mps: LINEAR_MPS, angular_radps: ANGULAR_RADPS })
  if (sent) counts.sent++
  else counts.unsent++
}

/** Sends datagrams of another program's upload at twice the rate of a link that it fills. */
async function upload(to: { host: string; port: number; bytes: number; rateBps: number }): Promise<void> {
  const socket = createSocket('udp4')
  const datagram = Buffer.alloc(DATAGRAM_BYTES)
  const startedMs = monotonicMs()
  for (let sentBytes = 0; sentBytes < to.bytes; sentBytes += DATAGRAM_BYTES) {
    const dueMs = startedMs + (sentBytes * BITS_PER_BYTE * 1_000) / to.rateBps
    if (dueMs > monotonicMs()) await delay(dueMs - monotonicMs())
    // A datagram that the system refuses is missing, as after a full queue.
    await new Promise<void>((resolve) => socket.send(datagram, to.port, to.host, () => resolve()))
  }
  socket.close()
}

const handlers = {
  async open(transportName: string, addresses: readonly EndAddress[]): Promise<void> {
    const transport = transportNamed(transportName)
    const events = { onRefused: refuse, onLost: () => void counts.lost++ }
    operators = await Promise.all(addresses.map((address) => transport.connectOperator(address, events)))
    drive()
  },
  /** Starts the measurement. */
  mark(): void {
    counts = { sent: 0, unsent: 0, lost: 0 }
    refused.clear()
    pauses.reset()
  },
  upload,
  report: () => ({ ...counts, refused: Object.fromEntries(refused), pauses: pauses.report() }),
  async close(): Promise<void> {
    clearTimeout(timer)
    await Promise.all(operators.map((operator) => operator.close()))
    operators = []
  },
}
export type OperatorsProcess = typeof handlers

raisePriority()
offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the lab ends this process
sendReady(0)
