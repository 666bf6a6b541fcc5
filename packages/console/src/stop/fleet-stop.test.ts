import { ApiError } from '@wheelhouse/sdk'
import { expect, test, vi } from 'vitest'
import { createFleetStop } from './fleet-stop.ts'

const targets = ['a', 'b', 'c'].map((sessionId) => ({ sessionId, robotName: `Robot ${sessionId}` }))

test('sends all stops at the same time and reports each result', async () => {
  const sent: string[] = []
  const gates = new Map(targets.map(({ sessionId }) => [sessionId, Promise.withResolvers<void>()]))
  const fleet = createFleetStop({
    routesOf: (sessionId) => [
      () => {
        sent.push(sessionId)
        return gates.get(sessionId)!.promise
      },
    ],
    onRecorded: async () => undefined,
  })
  fleet.stop(targets)
  expect(sent).toEqual(['a', 'b', 'c'])
  gates.get('c')!.resolve()
  gates.get('b')!.reject(new ApiError(409, 'The session is over.'))
  await vi.waitFor(() => expect(fleet.results.get().get('b')?.phase).toBe('rejected'))
  await vi.waitFor(() => expect(fleet.results.get().get('c')?.phase).toBe('recorded'))
  expect(fleet.results.get().get('a')).toEqual({ robotName: 'Robot a', phase: 'requested' })
  gates.get('a')!.resolve()
  await vi.waitFor(() => expect(fleet.results.get().get('a')?.phase).toBe('recorded'))
})

test('stops again on request, also after a rejection', async () => {
  let rejects = true
  const fleet = createFleetStop({
    routesOf: () => [
      async () => {
        if (rejects) throw new ApiError(409, 'The session is over.')
      },
    ],
    onRecorded: async () => undefined,
  })
  fleet.stop(targets)
  await vi.waitFor(() => expect(fleet.results.get().get('a')?.phase).toBe('rejected'))
  rejects = false
  fleet.stop(targets)
  await vi.waitFor(() =>
    expect([...fleet.results.get().values()].map(({ phase }) => phase)).toEqual([
      'recorded',
      'recorded',
      'recorded',
    ]),
  )
})
