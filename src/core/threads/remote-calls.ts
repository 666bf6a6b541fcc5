import type { Guard } from '../process/guard.ts'
import { createBatchSender } from './batch-sender.ts'
import { restoreError, type TransferredError, transferError } from './transferred-error.ts'

/** A call of a service that runs in another thread. */
export interface Call {
  readonly id: number
  readonly service: string
  readonly method: string
  readonly args: readonly unknown[]
}
export type CallResult =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: TransferredError }

/** Far above the calls of a busy thread, which batches them. A call beyond it fails like one to an unreachable database. */
const MAX_PENDING_CALLS = 50_000

interface PendingCall {
  resolve(value: unknown): void
  reject(error: Error): void
}

/**
 * Creates services whose methods run in the main thread. A call rejects if its arguments or its result cannot be cloned.
 * @param methods the names of the methods of each service
 */
export function createRemoteServices<Services extends object>(
  guard: Guard,
  methods: Readonly<Record<string, readonly string[]>>,
  send: (calls: readonly Call[]) => void,
) {
  const pending = new Map<number, PendingCall>()
  const add = createBatchSender(guard, send, ({ id }, cause) => {
    pending.get(id)?.reject(cause as Error)
    pending.delete(id)
  })
  let count = 0

  function call(service: string, method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (pending.size >= MAX_PENDING_CALLS)
        return reject(new Error(`${pending.size} calls of the thread wait for the main thread.`))
      const id = ++count
      pending.set(id, { resolve, reject })
      add({ id, service, method, args })
    })
  }

  const services = Object.fromEntries(
    Object.entries(methods).map(([service, names]) => [
      service,
      Object.fromEntries(
        names.map((method) => [method, (...args: unknown[]) => call(service, method, args)] as const),
      ),
    ]),
  ) as unknown as Services // by construction: every service with every method

  return {
    services,
    /** Settles the calls that the main thread has answered. */
    settle(results: readonly CallResult[]): void {
      for (const result of results) {
        const waiting = pending.get(result.id)
        pending.delete(result.id)
        if ('error' in result) waiting?.reject(restoreError(result.error))
        else waiting?.resolve(result.value)
      }
    },
  }
}

/** Returns a function that runs calls of the other thread, and sends their results. */
export function createCallRunner(
  guard: Guard,
  services: object,
  send: (results: readonly CallResult[]) => void,
): (calls: readonly Call[]) => void {
  const add = createBatchSender(guard, send, ({ id }, cause) => send([{ id, error: transferError(cause) }]))
  const run = async ({ id, service, method, args }: Call): Promise<void> => {
    try {
      const methods: Record<string, (...args: readonly unknown[]) => Promise<unknown>> = Reflect.get(
        services,
        service,
      )
      const value = await methods[method]?.(...args)
      add({ id, value })
    } catch (cause) {
      add({ id, error: transferError(cause) })
    }
  }
  // Started in one turn, so that the services batch the calls as if they were local.
  return (calls) => {
    for (const call of calls) void run(call)
  }
}
