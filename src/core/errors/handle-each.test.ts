import { expect, test } from 'vitest'
import { createLog } from '../log.ts'
import { handleEach } from './handle-each.ts'

const unreachable = () => Object.assign(new Error('no route'), { code: 'ECONNREFUSED' })

/** Handles items of which some fail. Returns the handled items, the number of failed ones, and the lines of the log. */
async function handleItems(items: { id: string }[], failures: Record<string, Error>) {
  const lines: { id: string; msg: string; err: { message: string } }[] = []
  const log = createLog({
    level: 'error',
    pretty: false,
    to: { write: (line) => void lines.push(JSON.parse(line)) },
  })
  const handled: string[] = []
  const handle = async ({ id }: { id: string }) => {
    const failure = failures[id]
    if (failure) throw failure
    handled.push(id)
  }
  const failed = await handleEach(items, handle, { log, failure: 'item not handled' }).catch((cause) => cause)
  return { handled, failed, lines }
}

const named = (...ids: string[]) => ids.map((id) => ({ id }))

test('an item that fails is logged with its id, and the others are handled', async () => {
  const { handled, failed, lines } = await handleItems(named('a', 'b', 'c'), { a: new Error('stuck') })
  expect(handled).toEqual(['b', 'c'])
  expect(failed).toBe(1)
  expect(lines).toMatchObject([{ id: 'a', msg: 'item not handled', err: { message: 'stuck' } }])
})

test('an item that runs into a timeout does not keep the others waiting', async () => {
  const { handled, failed } = await handleItems(named('a', 'b', 'c'), { a: unreachable(), b: unreachable() })
  expect(handled).toEqual(['c'])
  expect(failed).toBe(2)
})

test('an unreachable database ends the round', async () => {
  const cause = unreachable()
  const { handled, failed } = await handleItems(named('a', 'b', 'c', 'd'), { a: cause, b: cause, c: cause })
  expect(handled).toEqual([])
  expect(failed).toBe(cause)
})
