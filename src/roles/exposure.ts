import ipaddr from 'ipaddr.js'
import type { Config } from '../app/config.ts'
import { isLoopback } from '../core/http/loopback.ts'

type Settings = Pick<Config, 'idp' | 'demo' | 'roles' | 'trustedProxies' | 'baseUrl' | 'allowInsecureDev'>

/**
 * Checks whether the built-in identity provider and the demo may run. They give every account, admins included, to
 * anyone who asks, so they may run only where no other machine can connect. The check uses the address of the
 * listening socket and the settings. It does not use request headers, which do not prove the origin of a request.
 * @param address the address that the api listens on, as the operating system reports it
 * @returns why other machines may connect, when ALLOW_INSECURE_DEV accepts that; undefined when none can
 * @throws Error that names the solutions when other machines may connect
 */
export function checkDevelopmentAccess(settings: Settings, address: string): string | undefined {
  if (!settings.roles.includes('api') || (settings.idp && !settings.demo)) return undefined
  const reason = exposure(settings, address)
  if (reason === undefined || settings.allowInsecureDev) return reason
  const subject = settings.idp ? 'The demo prints' : 'The built-in identity provider gives away'
  throw new Error(
    `${subject} working credentials, admin accounts included, and ${reason}. ` +
      `Listen on this machine only (HOST=127.0.0.1), ${settings.idp ? 'set DEMO=false' : 'set IDP_ISSUER to your identity provider'}, ` +
      'or set ALLOW_INSECURE_DEV=true on a network where you trust every machine.',
  )
}

function exposure({ trustedProxies, baseUrl }: Settings, address: string): string | undefined {
  if (!isLoopbackAddress(address)) return `the api listens on ${address}, where other machines can connect`
  if (trustedProxies > 0) return 'TRUST_PROXY says that a proxy passes on requests of other machines'
  if (!isLoopback(new URL(baseUrl).hostname)) return `BASE_URL is ${baseUrl}, an address for other machines`
  return undefined
}

function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}
