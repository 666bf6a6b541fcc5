import { readyPort } from '../../../test/support/processes/rpc.ts'
import type { EndAddress, Served, Site } from './transport.ts'

/**
 * Starts a peer's server and gives every pair of every run other addresses.
 * @param addressOf returns where one end of a pair connects
 */
export async function servePeer(
  { lab, host }: Site,
  file: string,
  addressOf: (origin: string, side: 'operator' | 'robot', pair: number) => EndAddress,
): Promise<Served> {
  const child = lab.children.run(file, { env: { HOST: host } })
  const origin = `${host}:${await readyPort(child.process)}`
  let opened = 0
  return {
    async open(count) {
      const pairs = Array.from({ length: count }, (_, index) => opened + index)
      opened += count
      return {
        robots: pairs.map((pair) => addressOf(origin, 'robot', pair)),
        operators: async () => pairs.map((pair) => addressOf(origin, 'operator', pair)),
      }
    },
    stop: () => child.stop(),
  }
}
