import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { withTimeout } from '../../core/concurrency/concurrency.ts'
import type { AddressPolicy } from './target-address.ts'

const MAX_URL_LENGTH = 2_000
const RESOLVE_LIMIT_MS = 5_000
/** Any port that programs of people listen on; not those of other services of a host. */
const FIRST_FREE_PORT = 1_024

export interface TargetAddress {
  readonly address: string
  readonly family: 4 | 6
}
/** Answers with all addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly TargetAddress[]>

/** A URL whose addresses were looked at: connect to nothing but these. */
export interface Target {
  readonly url: URL
  readonly addresses: readonly TargetAddress[]
}

/** What RFC 6761 says of `localhost`. */
const LOOPBACK: readonly TargetAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Why a URL may not be a target. Says nothing of what a name resolves to, or whether it does. */
export class TargetRefused extends Error {}

const notPublic = () => new TargetRefused('its host must have a name that resolves to public addresses only')

/**
 * Asks the name servers of the system, and they alone: its other ways of resolving take threads that everything else
 * in the process needs too, as long as somebody's name server likes to keep them.
 */
const resolveByNameServers: Resolve = async (hostname) => {
  if (/^(.+\.)?localhost\.?$/i.test(hostname)) return LOOPBACK
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = (answer: PromiseSettledResult<string[]>) =>
    answer.status === 'fulfilled' ? answer.value : []
  return [
    ...found(four).map((address) => ({ address, family: 4 }) as const),
    ...found(six).map((address) => ({ address, family: 6 }) as const),
  ]
}

/** Checks where webhooks are sent to: when they are registered, and again before every attempt. */
export function createTargets(deps: { policy: AddressPolicy; resolve?: Resolve }) {
  const { policy, resolve = resolveByNameServers } = deps

  /** The form alone; no name is resolved. */
  function parseUrl(text: string): URL {
    if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) throw new TargetRefused('must be a URL')
    const url = new URL(text)
    const schemes = policy.allowsPrivate ? ['https:', 'http:'] : ['https:']
    if (!schemes.includes(url.protocol))
      throw new TargetRefused(`must begin with ${schemes.join('// or ')}//`)
    if (url.username !== '' || url.password !== '')
      throw new TargetRefused('must not hold a name or password')
    if (url.hash !== '') throw new TargetRefused('must not hold a fragment')
    return url
  }

  async function addressesOf(hostname: string): Promise<readonly TargetAddress[]> {
    const literal = hostname.replace(/^\[(.*)\]$/, '$1')
    const family = isIP(literal)
    if (family !== 0) return [{ address: literal, family: family === 6 ? 6 : 4 }]
    return await withTimeout(RESOLVE_LIMIT_MS, 'the name was not resolved in time', resolve(hostname)).catch(
      () => {
        throw notPublic()
      },
    )
  }

  return {
    /**
     * Resolves the host and looks at every address: one that is not allowed refuses them all, since whoever answers
     * for the name decides which one comes first.
     * @throws TargetRefused
     */
    async check(text: string): Promise<Target> {
      const url = parseUrl(text)
      const addresses = await addressesOf(url.hostname)
      const verdicts = new Set(addresses.map(({ address }) => policy.judge(address)))
      if (addresses.length === 0 || verdicts.has('refused')) throw notPublic()
      if (verdicts.has('public')) {
        if (url.protocol !== 'https:') throw new TargetRefused('must begin with https://')
        const port = Number(url.port || 443)
        if (port !== 443 && port < FIRST_FREE_PORT) {
          throw new TargetRefused(`must name port 443 or one from ${FIRST_FREE_PORT}`)
        }
      }
      return { url, addresses }
    },
  }
}
export type Targets = ReturnType<typeof createTargets>
