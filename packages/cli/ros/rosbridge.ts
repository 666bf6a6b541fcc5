import { z } from 'zod'
import { RosSocket } from './ros-socket.ts'
import {
  plainType,
  RateLimit,
  type RosMessage,
  type RosSource,
  type RosTopic,
  type SourceOptions,
} from './source.ts'

/** How long a call of a service may take. */
const CALL_TIMEOUT_MS = 5_000
/** More calls than this are not pending at once. */
const MAX_PENDING_CALLS = 16

const Publish = z.object({ op: z.literal('publish'), topic: z.string(), msg: z.unknown() })
const Status = z.object({ op: z.literal('status'), level: z.string(), msg: z.string() })
const ServiceResponse = z.object({
  op: z.literal('service_response'),
  id: z.string().optional(),
  values: z.unknown(),
  result: z.boolean().optional(),
})
const ServerOp = z.discriminatedUnion('op', [Publish, Status, ServiceResponse])
const knownOps: ReadonlySet<unknown> = new Set(ServerOp.options.map(({ shape }) => shape.op.value))

const Topics = z.object({ topics: z.array(z.string()), types: z.array(z.string()) })
const Parameter = z.object({ value: z.string() })

/** ROS 1 or ROS 2 behind rosbridge_server: JSON over a WebSocket. */
export class RosbridgeSource implements RosSource {
  readonly #options: SourceOptions
  readonly #socket: RosSocket
  readonly #rates: ReadonlyMap<string, RateLimit>
  readonly #calls = new Map<string, { resolve: (values: unknown) => void; reject: (cause: Error) => void }>()
  #nextCall = 0

  constructor(options: SourceOptions) {
    this.#options = options
    this.#rates = new Map(options.subscriptions.map(({ topic, rateHz }) => [topic, new RateLimit(rateHz)]))
    this.#socket = new RosSocket({
      url: options.url,
      onOpen: () => this.#open(),
      onDown: (reason) => this.#down(reason),
      onText: (text) => this.#receive(text),
      onBinary: () => {}, // CBOR is never requested
      onProblem: options.onProblem,
    })
  }

  get isUp(): boolean {
    return this.#socket.isOpen
  }

  publish(topic: string, message: RosMessage): boolean {
    return this.#send({ op: 'publish', topic, msg: withoutStamps(message) })
  }

  call(service: string, type: string, request: RosMessage): boolean {
    return this.#send({ op: 'call_service', service, type, args: request })
  }

  async topics(): Promise<readonly RosTopic[]> {
    const { topics, types } = Topics.parse(await this.#ask('/rosapi/topics', {}))
    return topics.map((name, index) => ({ name, type: plainType(types[index] ?? '') }))
  }

  async robotDescription(): Promise<string | undefined> {
    for (const name of ['/robot_description', '/robot_state_publisher:robot_description']) {
      const answer = await this.#ask('/rosapi/get_param', { name }).catch(() => undefined)
      const text = textOfParameter(Parameter.safeParse(answer).data?.value)
      if (text?.includes('<robot')) return text
    }
    return undefined
  }

  close(): Promise<void> {
    this.#failCalls('closed')
    return this.#socket.close()
  }

  #open(): void {
    for (const { topic, type } of this.#options.publications) this.#send({ op: 'advertise', topic, type })
    for (const { topic, type, rateHz } of this.#options.subscriptions)
      this.#send({
        op: 'subscribe',
        topic,
        type,
        throttle_rate: Math.floor(1_000 / rateHz),
        // Of throttled messages, the newest alone waits at the bridge.
        queue_length: rateHz === Number.POSITIVE_INFINITY ? 0 : 1,
      })
    this.#options.onUp()
  }

  #down(reason: string): void {
    this.#failCalls(reason)
    this.#options.onDown(reason)
  }

  #send(op: RosMessage): boolean {
    return this.#socket.send(JSON.stringify(op))
  }

  #receive(text: string): void {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('op' in value) || !knownOps.has(value.op)) return
    const frame = ServerOp.safeParse(value)
    if (!frame.success) throw new Error(`rosbridge sent a malformed ${String(value.op)}`)
    const { data } = frame
    if (data.op === 'status') this.#options.onProblem(`rosbridge: ${data.level}: ${data.msg}`)
    else if (data.op === 'service_response') this.#answered(data)
    else if (this.#rates.get(data.topic)?.admits(performance.now()))
      this.#options.onMessage(data.topic, data.msg)
  }

  #ask(service: string, args: RosMessage): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = String(this.#nextCall++)
      if (this.#calls.size >= MAX_PENDING_CALLS || !this.#send({ op: 'call_service', id, service, args }))
        return reject(new Error(`${service} cannot be called: rosbridge is not connected`))
      const timer = setTimeout(() => {
        this.#calls.delete(id)
        reject(new Error(`${service} did not answer`))
      }, CALL_TIMEOUT_MS)
      const settle = (work: () => void) => {
        clearTimeout(timer)
        this.#calls.delete(id)
        work()
      }
      this.#calls.set(id, {
        resolve: (values) => settle(() => resolve(values)),
        reject: (cause) => settle(() => reject(cause)),
      })
    })
  }

  #answered({ id, values, result }: z.infer<typeof ServiceResponse>): void {
    if (id === undefined) {
      if (result === false) this.#options.onProblem(`a service refused the call: ${JSON.stringify(values)}`)
      return
    }
    const call = this.#calls.get(id)
    if (result === false) call?.reject(new Error(`the service failed: ${JSON.stringify(values)}`))
    else call?.resolve(values)
  }

  #failCalls(reason: string): void {
    for (const { reject } of [...this.#calls.values()]) reject(new Error(reason))
  }
}

/** Removes the stamp of the header: rosbridge then sets the robot's own time, which is simulated time in a simulation. */
function withoutStamps(message: RosMessage): RosMessage {
  const { header } = message
  if (typeof header !== 'object' || header === null) return message
  const { stamp: _, ...rest } = header as Record<string, unknown>
  return { ...message, header: rest }
}

/** Returns the text of a parameter, which rosapi encodes as JSON. */
function textOfParameter(value: string | undefined): string | undefined {
  try {
    const decoded: unknown = JSON.parse(value ?? '')
    return typeof decoded === 'string' ? decoded : value
  } catch {
    return value
  }
}
