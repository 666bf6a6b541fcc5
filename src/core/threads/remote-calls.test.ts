import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { type GatewayServices, serviceMethods } from '../../../gateway/base/services.ts'
import { plainGuard } from '../../../test/support/gateway/plain-guard.ts'
import { type Call, type CallResult, createCallRunner, createRemoteServices } from './remote-calls.ts'

/** Connects remote services with their implementations through a port, which clones as between threads. */
function createFixture(implementations: Record<string, Record<string, (argument: never) => unknown>>) {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const guard = plainGuard()
  const messages = { calls: 0 }
  const runCalls = createCallRunner(guard, implementations, (results: readonly CallResult[]) =>
    port2.postMessage(results),
  )
  port2.on('message', (calls: readonly Call[]) => {
    messages.calls++
    runCalls(calls)
  })
  const remote = createRemoteServices<GatewayServices>(guard, serviceMethods, (calls) =>
    port1.postMessage(calls),
  )
  port1.on('message', remote.settle)
  return { services: remote.services, messages }
}

test('calls whose arguments or results cannot be cloned reject, and the other calls of their batch succeed', async () => {
  const { services } = createFixture({
    ticketStore: { verdictOf: async (argument: unknown) => argument },
    controlPersistence: { endedCredentials: async () => [() => 'a function'] },
    episodeStore: {
      save: async () => {
        throw Object.assign(new Error('refused'), { code: '23505', detail: () => 'a function' })
      },
    },
  })
  const verdictOf = services.ticketStore.verdictOf as unknown as (argument: unknown) => Promise<unknown>
  const endedCredentials = services.controlPersistence.endedCredentials as unknown as () => Promise<unknown>
  const save = services.episodeStore.save as unknown as () => Promise<unknown>
  const settled = await Promise.allSettled([
    verdictOf(1),
    verdictOf(() => 'a function'),
    endedCredentials(),
    save(),
    verdictOf({ at: 2 }),
  ])
  const unsendable = {
    status: 'rejected',
    reason: expect.objectContaining({
      name: 'DataCloneError',
      message: expect.stringContaining('a function'),
    }),
  }
  expect(settled).toEqual([
    { status: 'fulfilled', value: 1 },
    unsendable,
    unsendable,
    { status: 'rejected', reason: expect.objectContaining({ message: 'refused', code: '23505' }) },
    { status: 'fulfilled', value: { at: 2 } },
  ])
})

test('the calls of one turn are one message', async () => {
  const { services, messages } = createFixture({ ticketStore: { verdictOf: async () => 'valid' } })
  const verdictOf = services.ticketStore.verdictOf as unknown as () => Promise<unknown>
  expect(await Promise.all([verdictOf(), verdictOf(), verdictOf()])).toEqual(['valid', 'valid', 'valid'])
  expect(messages.calls).toBe(1)
})
