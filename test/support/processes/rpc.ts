import type { ChildProcess } from 'node:child_process'

/** Functions that one process offers to another over its IPC channel. */
export type Offer = Record<string, (...input: never[]) => unknown>

export type Call<A extends Offer> = <N extends keyof A & string>(
  name: N,
  ...input: Parameters<A[N]>
) => Promise<Awaited<ReturnType<A[N]>>>

interface Request {
  readonly call: number
  readonly name: string
  readonly input: never[]
}
interface Answer {
  readonly answered: number
  readonly result?: unknown
  readonly error?: string
}

const isRequest = (message: unknown): message is Request =>
  typeof message === 'object' && message !== null && 'call' in message
const isAnswer = (message: unknown): message is Answer =>
  typeof message === 'object' && message !== null && 'answered' in message

/** Answers calls of the parent, in the child. Ignores calls by other names. */
export function offer<A extends Offer>(handlers: A): void {
  process.on('message', async (message: unknown) => {
    if (!isRequest(message)) return
    const handler = handlers[message.name]
    if (!handler) return
    const answered = message.call
    try {
      const result = await handler(...message.input)
      process.send?.({ answered, result })
    } catch (cause) {
      process.send?.({ answered, error: String(cause) })
    }
  })
}

/** Notifies the parent, in the child, that all functions are registered. */
export function sendReady(port: number): void {
  process.send?.({ ready: port })
}

/** Settles in the parent with the port of a child that is ready. */
export function readyPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: unknown) => {
      if (typeof message === 'object' && message !== null && 'ready' in message) {
        resolve(Number(message.ready))
      }
    })
    child.once('exit', () => reject(new Error('A process of the benchmark ended before it was ready.')))
  })
}

/** Returns a function for the parent that calls a child. */
export function callerOf<A extends Offer>(child: ChildProcess): Call<A> {
  const waiting = new Map<number, (answer: Answer) => void>()
  child.on('message', (message: unknown) => {
    if (!isAnswer(message)) return
    waiting.get(message.answered)?.(message)
    waiting.delete(message.answered)
  })
  child.once('exit', () => {
    for (const [answered, settle] of waiting) settle({ answered, error: 'its process ended' })
  })
  return (name, ...input) =>
    new Promise((resolve, reject) => {
      const call = nextCall(child)
      waiting.set(call, ({ error, result }) => {
        if (error === undefined) resolve(result as never)
        else reject(new Error(`${name}: ${error}`))
      })
      child.send({ call, name, input }, (cause) => cause && reject(cause))
    })
}

/** One count for each child, so that two callers of the same child do not mix up their answers. */
const callsOf = new WeakMap<ChildProcess, number>()
function nextCall(child: ChildProcess): number {
  const call = (callsOf.get(child) ?? 0) + 1
  callsOf.set(child, call)
  return call
}
