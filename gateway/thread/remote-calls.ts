import type { Guard } from '../../src/core/process/guard.ts'
import { type GatewayServices, serviceMethods } from '../services.ts'
import { createBatchSender } from './batch-sender.ts'
import type { Call, CallResult } from './messages.ts'
import { restoreError, transferError } from './transferred-error.ts'

/** Far above the calls of a busy gateway, which batches them. A call beyond it fails like one to an unreachable database. */
const MAX_PENDING_CALLS = 50_000

interface PendingCall {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** Creates services whose methods run in the main thread. A call rejects if its arguments or its result cannot be cloned. */
export function createRemoteServices(guard: Guard, send: (calls: readonly Call[]) => void) {
  const pending = new Map<number, PendingCall>()
  const add = createBatchSender(guard, send, ({ id }, cause) => {
    pending.get(id)?.reject(cause as Error)
    pending.delete(id)
  })
  let count = 0

  function call(service: string, method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (pending.size >= MAX_PENDING_CALLS)
        return reject(new Error(`${pending.size} calls of the gateway wait for the main thread.`))
      const id = ++count
      pending.set(id, { resolve, reject })
      add({ id, service, method, args })
    })
  }

  const services = Object.fromEntries(
    Object.entries(serviceMethods).map(([service, methods]) => [
      service,
      Object.fromEntries(
        methods.map((method) => [method, (...args: unknown[]) => call(service, method, args)] as const),
      ),
    ]),
  ) as unknown as GatewayServices // by construction: every service with every method

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

/** Returns a function that runs calls of the gateway's thread, and sends their results. */
export function createCallRunner(
  guard: Guard,
  services: GatewayServices,
  send: (results: readonly CallResult[]) => void,
): (calls: readonly Call[]) => void {
  const add = createBatchSender(guard, send, ({ id }, cause) => send([{ id, error: transferError(cause) }]))
  const run = async ({ id, service, method, args }: Call): Promise<void> => {
    try {
      const methods = services[service as keyof GatewayServices] as unknown as Record<
        string,
        (...args: readonly unknown[]) => Promise<unknown>
      >
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
