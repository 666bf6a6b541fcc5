import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

const check = async () => {}

/** Takes turns of a session, and notes the order in which its changes are made. */
function createSession() {
  const takeTurn = createTurns()
  const made: string[] = []
  const change = (userId: string, what = userId) =>
    takeTurn({ sessionId: 'session', userId }, check, async () => {
      made.push(what)
      await new Promise(setImmediate)
      made.push(`end of ${what}`)
    })
  return { takeTurn, made, change }
}

test('one command at a time changes a session; who sends many does not keep others from their turn', async () => {
  const { made, change } = createSession()
  const many = Array.from({ length: 50 }, (_, at) => change('holder', `offer ${at}`))
  await change('supervisor')
  expect(made).toEqual(['offer 0', 'end of offer 0', 'supervisor', 'end of supervisor'])
  await Promise.all(many)
  expect(made.slice(-2)).toEqual(['offer 49', 'end of offer 49'])
})

test('a command that fails fails alone, and one that is refused makes no change', async () => {
  const { takeTurn, made, change } = createSession()
  const holder = { sessionId: 'session', userId: 'holder' }
  const broken = takeTurn(holder, check, async () => {
    throw new Error('broken')
  })
  const refused = takeTurn(
    holder,
    async () => {
      throw new Error('refused')
    },
    () => change('never'),
  )
  const results = await Promise.allSettled([broken, refused, change('holder'), change('supervisor')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
  expect(made).toHaveLength(4)
})
