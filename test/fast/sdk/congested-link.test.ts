import { afterEach, expect, test } from 'vitest'
import { type Congestion, NO_CONGESTION, OperatorLink } from '../../../packages/sdk/index.ts'
import { DriverGateway } from '../../support/gateway/scripted-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Returns a link that limits its rate, because its gateway answers no ping. */
async function congestedLink() {
  const gateway = await new DriverGateway().listen()
  gateway.pongs = false
  const changes: Congestion[] = []
  const link = new OperatorLink({
    getTicket: async () => ({ url: gateway.url(), ticket: 't' }),
    silenceMs: 60_000,
    onCongestion: (congestion) => changes.push(congestion),
  })
  cleanups.push(
    () => gateway.close(),
    () => link.close(),
  )
  await link.connect()
  expect(link.congestion).toEqual(NO_CONGESTION)
  const driving = setInterval(() => link.control('driving'), 10)
  const stopDriving = () => clearInterval(driving)
  cleanups.push(stopDriving)
  await waitFor(() => expect(link.congestion).toMatchObject({ cause: 'unanswered' }))
  expect(link.congestion.maxRateHz).toBeGreaterThanOrEqual(20)
  expect(changes.at(-1)).toEqual(link.congestion)
  return { gateway, link, changes, stopDriving }
}

const dataOf = (gateway: DriverGateway) => gateway.framesOf('control').map(({ data }) => data)

test('a congested link sends the newest command when its turn comes, and none of the older ones', async () => {
  const { gateway, link, stopDriving } = await congestedLink()
  stopDriving()
  const numbers = [1, 2, 3, 4, 5].map((command) => link.control(command))
  await waitFor(() => expect(dataOf(gateway)).toContain(5))
  const sent = dataOf(gateway).filter((data) => typeof data === 'number')
  expect([[5], [1, 5]]).toContainEqual(sent)
  expect(gateway.framesOf('control').at(-1)).toMatchObject({ seq: numbers.at(-1), data: 5 })
  const seqs = gateway.framesOf('control').map(({ seq }) => seq)
  expect(seqs, 'a replaced command passes its number on').toEqual(seqs.map((_, index) => index + 1))
})

test('neither a stop nor an urgent command waits, and both end the waiting of others', async () => {
  const { gateway, link, stopDriving } = await congestedLink()
  stopDriving()
  for (const command of [1, 2, 3]) link.control(command)
  link.control('halt', { urgent: true })
  await waitFor(() => expect(dataOf(gateway).at(-1)).toBe('halt'))

  for (const command of [4, 5, 6]) link.control(command)
  const stopping = link.stop('now')
  await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
  gateway.pongs = true
  gateway.sendState({ stop: { reason: 'now', latched: true, recorded: true } })
  await stopping
  gateway.sendState({ stop: null })
  link.control('again', { urgent: true })
  await waitFor(() => expect(dataOf(gateway).at(-1)).toBe('again'))
  for (const late of [2, 3, 5, 6]) expect(dataOf(gateway)).not.toContain(late)
})

test('a link recovers when its pings are answered, and a new connection begins without a limit', async () => {
  const { gateway, link, changes } = await congestedLink()
  gateway.pongs = true
  await waitFor(() => expect(link.congestion.cause).toBeNull())
  expect(changes.at(-1)).toMatchObject({ cause: null })
  gateway.pongs = false
  await waitFor(() => expect(link.congestion.cause).toBe('unanswered'))
  gateway.newest.terminate()
  await waitFor(() => expect(gateway.upgrades).toBe(2))
  await waitFor(() => expect(changes).toContainEqual(NO_CONGESTION))
})
