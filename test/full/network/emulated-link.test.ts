import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DatagramProcess } from '../../support/network/datagrams.ts'
import {
  accountedPackets,
  isLabAllowed,
  type LabNetwork,
  LINK_ADDRESSES,
  openLabNetwork,
} from '../../support/network/lab-network.ts'
import { inNamespace } from '../../support/network/namespaces.ts'
import type { Direction } from '../../support/network/profiles.ts'
import { callerOf, readyPort } from '../../support/processes/rpc.ts'
import { waitFor } from '../../support/world/wait.ts'

// The link between two namespaces, with real packets. Its times depend on the machine, so the tests check order,
// conservation, and the shortest delays only.

describe.runIf(await isLabAllowed())('the emulated link', () => {
  /** Fits into the kernel's buffers, also when the link and the receiver get no processor for a while. */
  const DATAGRAMS = 150
  const perfect: Direction = { delayMs: 0, jitterMs: 0, loss: 0, rateBps: null, queueBytes: 1_000_000 }
  let network: LabNetwork

  beforeEach(async () => {
    network = await openLabNetwork()
  })
  afterEach(() => network.close())

  /** Sends datagrams from a to b through the link with these settings. Waits until it holds none. */
  async function send(aToB: Direction, count: number, everyMs: number) {
    const { children, link, namespaces } = network
    const [sender, receiver] = await Promise.all(
      [namespaces.operators, namespaces.site].map(async (namespace) => {
        const child = children.run('test/support/network/datagrams.ts', { through: inNamespace(namespace) })
        await readyPort(child.process)
        return callerOf<DatagramProcess>(child.process)
      }),
    )
    if (!sender || !receiver) throw new Error('Two processes were started.')
    const [, address] = LINK_ADDRESSES
    const port = await receiver('listen', address)
    await link.configure({ aToB, bToA: perfect, seed: 'test' })
    await sender('send', { address, port }, count, everyMs)
    const { a_to_b } = await waitFor(async () => {
      const report = await link.report()
      expect(report.a_to_b).toMatchObject({ received: count, held: 0 })
      return report
    })
    const arrivals = await waitFor(async () => {
      const found = await receiver('arrivals')
      expect(found).toHaveLength(a_to_b.delivered)
      return found
    })
    return { arrivals, way: a_to_b, numbers: arrivals.map(({ number }) => number) }
  }

  test('delays all datagrams, without loss and in order', async () => {
    const { arrivals, numbers } = await send({ ...perfect, delayMs: 60, jitterMs: 20 }, DATAGRAMS, 1)
    expect(numbers).toEqual(Array.from({ length: DATAGRAMS }, (_, number) => number))
    expect(Math.min(...arrivals.map(({ tookMs }) => tookMs))).toBeGreaterThanOrEqual(40)
  })

  test('loses the share of its settings, and delivers the others in order', async () => {
    const { numbers, way } = await send({ ...perfect, loss: 0.3 }, DATAGRAMS, 0)
    expect(way.lost).toBeGreaterThan(20)
    expect(way.lost).toBeLessThan(70)
    expect(accountedPackets(way)).toBe(DATAGRAMS)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  })

  test('drops the end of a burst that its queue cannot hold', async () => {
    const slow = { ...perfect, rateBps: 20_000, queueBytes: 2_000 }
    const { numbers, way } = await send(slow, 60, 0)
    expect(way.dropped_by_queue).toBeGreaterThan(0)
    expect(way.most_queued_bytes).toBeLessThanOrEqual(2_000)
    expect(accountedPackets(way)).toBe(60)
    expect(numbers.slice(0, 5)).toEqual([0, 1, 2, 3, 4])
  })
})
