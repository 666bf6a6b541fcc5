import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import pTimeout from 'p-timeout'
import type { AddressPolicy } from './target-address.ts'

/** Longest address of a webhook, in characters. */
const MAX_URL_LENGTH = 2_000
/** How long the name of a webhook's address may take to resolve. */
const RESOLVE_LIMIT_MS = 5_000
/** Ports below this are reserved for system services. */
const FIRST_UNPRIVILEGED_PORT = 1_024

export interface TargetAddress {
  readonly address: string
  readonly family: 4 | 6
}
/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly TargetAddress[]>

/** A URL with its checked addresses. Connect only to these. */
export interface Target {
  readonly url: URL
  readonly addresses: readonly TargetAddress[]
}

/** The addresses of `localhost` (RFC 6761). */
const LOOPBACK: readonly TargetAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Says why a URL is not allowed. The message does not reveal whether or to what a name resolves. */
export class TargetRefused extends Error {}

const notPublic = () => new TargetRefused('its host must have a name that resolves to public addresses only')

/**
 * Resolves a name with the system's name servers. It avoids `getaddrinfo`, because a slow name server would block threads
 * that the rest of the process needs.
 */
const resolveByNameServers: Resolve = async (hostname) => {
  if (/^(.+\.)?localhost\.?$/i.test(hostname)) return LOOPBACK
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addressesOf = (result: PromiseSettledResult<string[]>) =>
    result.status === 'fulfilled' ? result.value : []
  return [
    ...addressesOf(four).map((address) => ({ address, family: 4 }) as const),
    ...addressesOf(six).map((address) => ({ address, family: 6 }) as const),
  ]
}

/** Creates the check of webhook URLs. It runs when a webhook is registered and before every attempt. */
export function createTargets(deps: { policy: AddressPolicy; resolve?: Resolve }) {
  const { policy, resolve = resolveByNameServers } = deps

  /** Parses and validates a URL without resolving its host. */
  function parseUrl(text: string): URL {
    if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) throw new TargetRefused('must be a URL')
    const url = new URL(text)
    const schemes = policy.allowsPrivate ? ['https:', 'http:'] : ['https:']
    if (!schemes.includes(url.protocol))
      throw new TargetRefused(`must begin with ${schemes.join('// or ')}//`)
    if (url.username !== '' || url.password !== '')
      throw new TargetRefused('must not contain a user name or password')
    if (url.hash !== '') throw new TargetRefused('must not contain a fragment')
    return url
  }

  async function addressesOf(hostname: string): Promise<readonly TargetAddress[]> {
    const literal = hostname.replace(/^\[(.*)\]$/, '$1')
    const family = isIP(literal)
    if (family !== 0) return [{ address: literal, family: family === 6 ? 6 : 4 }]
    return await pTimeout(resolve(hostname), { milliseconds: RESOLVE_LIMIT_MS }).catch(() => {
      throw notPublic()
    })
  }

  return {
    /**
     * Resolves the host and checks every address. It refuses the URL if one address is not allowed, because the name server
     * determines the order of addresses.
     * @throws TargetRefused if the URL is not allowed
     */
    async check(text: string): Promise<Target> {
      const url = parseUrl(text)
      const addresses = await addressesOf(url.hostname)
      const verdicts = new Set(addresses.map(({ address }) => policy.judge(address)))
      if (addresses.length === 0 || verdicts.has('refused')) throw notPublic()
      if (verdicts.has('public')) {
        if (url.protocol !== 'https:') throw new TargetRefused('must begin with https://')
        const port = Number(url.port || 443)
        if (port !== 443 && port < FIRST_UNPRIVILEGED_PORT) {
          throw new TargetRefused(`must use port 443 or a port from ${FIRST_UNPRIVILEGED_PORT}`)
        }
      }
      return { url, addresses }
    },
  }
}
export type Targets = ReturnType<typeof createTargets>
